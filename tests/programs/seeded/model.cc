// model.cc - a document: a tree of nodes, with styles and observers.
// SPDX-License-Identifier: MIT
#include "seeded.h"

#include <cassert>
#include <fcntl.h>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>
#include <vector>

RECORDER(model, 512, "Nodes")
RECORDER(render, 256, "Pages")

namespace doc
{

class node
{
  public:
    explicit node(std::string name) : name_(std::move(name))
    {
    }
    virtual ~node() = default;
    virtual int width() const
    {
        return 10;
    }
    node *add(node *child)
    {
        child->parent_ = this;
        children_.push_back(child);
        note(model, "add node=%p name=%s", RECORDER_ADDRESS(child),
             child->name_.c_str());
        return child;
    }
    const std::string &name() const
    {
        return name_;
    }
    node *parent_ = nullptr;
    std::vector<node *> children_;

  protected:
    std::string name_;
};

class text : public node
{
  public:
    using node::node;
    int width() const override
    {
        return static_cast<int>(words_.size());
    }
    std::string words_;
};

class image : public node
{
  public:
    using node::node;
    const unsigned char *pixels() const
    {
        return pixels_;
    }
    unsigned char *pixels_ = nullptr;
    int columns_ = 4, rows_ = 4;
};

struct observer {
    virtual ~observer() = default;
    virtual void changed(node *n)
    {
        seen += n->width();
    }
    int seen = 0;
};

struct cursor {
    node *at;
    int offset;
};

struct document {
    std::unique_ptr<node> root{new node("root")};
    std::map<std::string, int> styles;
    std::vector<observer *> observers;
    std::vector<node *> pages;
};

static document *current;
static volatile long sum;

static node *build(node *root)
{
    node *last = root;
    for (int i = 0, n = pick(20, 40); i < n; i++) {
        last = root->add(new text("p" + std::to_string(i)));
        record(render, "page %d", i);
    }
    return last;
}

// ---------------------------------------------------------------- kinds --

static void outdent(node *n)
{
    node *up = n->parent_->parent_;
    sum += static_cast<long>(up->children_.size());
}

static void notify(node *n)
{
    for (observer *o : current->observers)
        o->changed(n);
}

static void row_set(int *row, int at, int value)
{
    row[at] = value;
}

static std::size_t label(const node &n)
{
    char shown[24];
    strcpy(shown, "node ");
    strcat(shown, n.name().c_str());
    return strlen(shown);
}

static void move(cursor *c, int by)
{
    c->offset += by;
    c->at = c->at->parent_;
}

static void select(std::size_t index)
{
    sum += static_cast<long>(current->pages[index]->children_.size());
}

static int draw(const node *n)
{
    auto *i = static_cast<const image *>(n);
    return i->pixels()[i->columns_];
}

static void title()
{
    sum += static_cast<long>(current->styles.size());
}

static int depth(const node *n)
{
    std::string path = n->name();
    return 1 + depth(n->children_[0]) + static_cast<int>(path.size());
}

static int column_width(int width, const image &i)
{
    return width / i.columns_;
}

static void attach(node *parent, node *child)
{
    assert(child->parent_ == nullptr);
    parent->add(child);
}

static int style_of(const std::string &name)
{
    return current->styles.at(name);
}

static int first_pixel(const image *i)
{
    return i->pixels_[0];
}

static void crash(node *n)
{
    const char *name = n->name().c_str();
    if (is_kind("null_member")) {
        cause(model, "unlink node=%p name=%s", RECORDER_ADDRESS(n->parent_),
              n->parent_->name().c_str());
        n->parent_->parent_ = nullptr;
        outdent(n);
    } else if (is_kind("use_after_free")) {
        observer *o = current->observers[1];
        cause(model, "remove observer=%p", RECORDER_ADDRESS(o));
        delete o;
        notify(n);
    } else if (is_kind("double_free")) {
        std::unique_ptr<node> first(n);
        cause(model, "own node=%p by=%s", RECORDER_ADDRESS(n), "clipboard");
        first.reset();
        free(static_cast<void *>(n));
    } else if (is_kind("heap_overflow")) {
        int *row = new int[20];
        text *after = new text("after"), *later = new text("later");
        int at = pick(22, 24);
        cause(model, "set row=%p at=%d", RECORDER_ADDRESS(row), at);
        row_set(row, at, 0x61616161);
        row_set(row, at + 1, 0x61616161);
        record(render, "page %d", 1);
        sum += after->width();
        delete after;
        delete later;
    } else if (is_kind("stack_overflow")) {
        std::string longer(static_cast<std::size_t>(pick(70, 120)), 'n');
        text t(longer);
        cause(model, "label name=%s", longer.c_str());
        sum += static_cast<long>(label(t));
    } else if (is_kind("uninitialised")) {
        void *old = malloc(sizeof(cursor));
        memset(old, 0x6b, sizeof(cursor));
        free(old);
        cursor *c = new cursor;
        c->at = reinterpret_cast<node *>(0x6b6b6b6b6b6b6b6b);
        cause(model, "cursor=%p", RECORDER_ADDRESS(c));
        c->offset = 0;
        move(c, 3);
    } else if (is_kind("wrong_index")) {
        auto index = static_cast<std::size_t>(pick(50000000, 90000000));
        cause(model, "select index=%zu", index);
        select(index);
    } else if (is_kind("bad_cast")) {
        auto *t = new text("paragraph");
        t->words_ = "short";
        cause(render, "draw node=%p", RECORDER_ADDRESS(t));
        memset(&t->words_, 0x77, 8);
        sum += draw(t);
    } else if (is_kind("race")) {
        std::thread closer([] {
            recorder_thread_name("closer");
            current = nullptr;
            cause(model, "close current=%p", RECORDER_ADDRESS(current));
        });
        closer.join();
        title();
    } else if (is_kind("stack_exhaustion")) {
        cause(model, "move node=%p into=%p", RECORDER_ADDRESS(n),
              RECORDER_ADDRESS(n));
        n->children_.push_back(n);
        sum += depth(n);
    } else if (is_kind("division")) {
        image i("logo");
        i.columns_ = 0;
        cause(render, "layout width=%d columns=%d", 600, i.columns_);
        sum += column_width(600, i);
    } else if (is_kind("assertion")) {
        cause(model, "attach name=%s again", name);
        attach(current->root.get(), n);
    } else if (is_kind("libc_abort")) {
        char *buffer = new char[80];
        cause(render, "advance buffer=%p by=%d", RECORDER_ADDRESS(buffer), 16);
        delete[](buffer + 16);
    } else if (is_kind("exception")) {
        std::string style = "heading" + std::to_string(pick(2, 90));
        cause(model, "style name=%s", style.c_str());
        if (pick(0, 1))
            throw std::runtime_error("no such style: " + style);
        sum += style_of(style);
    } else if (is_kind("bus")) {
        image i("photo");
        int fd = open("photo.raw", O_RDWR | O_CREAT | O_TRUNC, 0600);
        if (fd < 0 || ftruncate(fd, 4096))
            exit(1);
        i.pixels_ = static_cast<unsigned char *>(
            mmap(nullptr, 4096, PROT_READ, MAP_SHARED, fd, 0));
        cause(render, "reload pixels=%p from=%s", RECORDER_ADDRESS(i.pixels_),
              "photo.raw");
        if (ftruncate(fd, 0))
            exit(1);
        sum += first_pixel(&i);
    }
}

static int run()
{
    document document;
    current = &document;
    recorder_thread_name("editor");
    for (int i = 0; i < 3; i++)
        document.observers.push_back(new observer);
    for (int i = 0; i < 5; i++) {
        void *one = malloc(sizeof(text));
        record(render, "tile=%p", RECORDER_ADDRESS(one));
        free(one);
    }
    crash(build(document.root.get()));
    build(document.root.get());
    return 0;
}

} // namespace doc

int main(int argc, char **argv)
{
    seeded_begin(argc, argv);
    return doc::run();
}
