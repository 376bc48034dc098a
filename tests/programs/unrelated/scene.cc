/* scene.cc - C++: shared pointers, strings of common words. */
/* SPDX-License-Identifier: MIT */
/* a: null pointer */
/* b: uncaught exception of type std::out_of_range */
#include "unrelated.h"
#include <map>
#include <memory>
#include <string>
#include <vector>
RECORDER(app, 512, "Application")
struct Texture {
    int width, height;
    std::string name;
};
class Scene
{
  public:
    std::map<std::string, std::shared_ptr<Texture>> textures;
    void load(const std::string &name, int w)
    {
        auto t = std::make_shared<Texture>(Texture{w, w, name});
        record(app, "load name=%s texture=%p width=%d",
               RECORDER_COPY(app, name.c_str()), A(t.get()), w);
        textures[name] = t;
    }
    void unload(const std::string &name)
    {
        record(app, "unload name=%s texture=%p",
               RECORDER_COPY(app, name.c_str()), A(textures[name].get()));
        textures.erase(name);
    }
    NOINLINE int area(const std::string &name)
    {
        auto t = textures[name];
        return t->width * t->height;
    }
    NOINLINE int strict(const std::string &name)
    {
        return textures.at(name)->width;
    }
};
int main(int, char **argv)
{
    auto scene = std::make_unique<Scene>();
    record(app, "start scene=%p", A(scene.get()));
    const char *words[] = {"main", "error", "none", "value", "name", "start"};
    for (int i = 0; i < 60; i++) {
        scene->load(words[i % 6], 64);
        if (i % 2)
            scene->unload(words[i % 6]);
    }
    scene->load("name", 64);
    return argv[1][0] == 'a' ? scene->area("error") : scene->strict("error");
}
