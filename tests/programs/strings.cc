/* Strings and arrays as arguments in C++: what they were is what is shown. */
/* SPDX-License-Identifier: MIT */
#include "recorder_dump.h"
#include <cstring>
#include <string>
#include <vector>
#if __cplusplus >= 201703L
#include <string_view>
#endif

RECORDER(net, 64, "Network traffic")

struct address {
    static const int port = 80; /* defined nowhere */
    unsigned bits : 3;
    char name[8];
};
enum class kind { one = 1 };

int main()
{
    std::string peer("example.org");
    std::vector<char> bytes(3, 'v');
    address a = {5, "host"};
    const address &constant = a;
    char variable[] = {'a', 'b'};
    const char *pointer = "pointer";
    record(net, "%s %s %d", peer, std::string("temporary"), 1);
    record(net, "%s %s %s %.2s", a.name, constant.name, bytes, variable);
    record(net, "%s %s %d %u %d", "literal", pointer, address::port, a.bits,
           static_cast<int>(kind::one));
    record(net, "%s%d%d%d%d%d%d%d%d%d%d%s", peer, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0,
           peer);
#if __cplusplus >= 201703L
    record(net, "%s|%s|", std::string_view("a view").substr(2),
           std::string_view());
#else
    record(net, "%s|%s|", std::string("view"), std::string());
#endif
    RECORDER_TRACE(net) = -1;
    record(net, "%s", peer);
    RECORDER_TRACE(net) = 0;
    peer = "overwritten";
    bytes[0] = variable[0] = 'x';
    strcpy(a.name, "other");
    recorder_line("{message}");
    recorder_dump();
}
