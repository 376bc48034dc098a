/* A server and its clients, as C++ is written: for recorder run. */
/* SPDX-License-Identifier: MIT */
/*
   server CLIENTS REQUESTS: serves on a socket of a local name with a pool of
   threads; the clients are threads, too, and change and ask for accounts. What
   it prints is always the same.
*/
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace
{

/* A queue of what the pool is to do. */
class Queue
{
  public:
    void put(std::function<void()> what)
    {
        {
            std::lock_guard<std::mutex> lock(mutex_);
            all_.push_back(std::move(what));
        }
        changed_.notify_one();
    }
    bool take(std::function<void()> &to)
    {
        std::unique_lock<std::mutex> lock(mutex_);
        while (!changed_.wait_for(lock, std::chrono::milliseconds(20),
                                  [this] { return ends_ || !all_.empty(); }))
            ;
        if (all_.empty())
            return false;
        to = std::move(all_.front());
        all_.pop_front();
        return true;
    }
    void end()
    {
        {
            std::lock_guard<std::mutex> lock(mutex_);
            ends_ = true;
        }
        changed_.notify_all();
    }

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::function<void()>> all_;
    bool ends_ = false;
};

struct Account {
    std::mutex mutex;
    long balance = 0;
};

/* Accounts by name: the table is read by many, each account has its lock. */
class Bank
{
  public:
    std::shared_ptr<Account> account(const std::string &name)
    {
        {
            std::shared_lock<std::shared_timed_mutex> lock(table_);
            auto found = accounts_.find(name);
            if (found != accounts_.end())
                return found->second;
        }
        std::unique_lock<std::shared_timed_mutex> lock(table_);
        auto &account = accounts_[name];
        if (!account)
            account = std::make_shared<Account>();
        return account;
    }
    /* Both locks at once: std::lock() tries, and gives back what it has. */
    void move(const std::string &from, const std::string &to, long amount)
    {
        auto a = account(from), b = account(to);
        if (a == b)
            return;
        std::lock(a->mutex, b->mutex);
        std::lock_guard<std::mutex> first(a->mutex, std::adopt_lock);
        std::lock_guard<std::mutex> second(b->mutex, std::adopt_lock);
        a->balance -= amount;
        b->balance += amount;
        std::lock_guard<std::recursive_mutex> lock(log_);
        note();
    }
    long sum()
    {
        long all = 0;
        std::shared_lock<std::shared_timed_mutex> lock(table_);
        for (auto &one : accounts_) {
            std::lock_guard<std::mutex> inner(one.second->mutex);
            all += one.second->balance;
        }
        return all;
    }
    unsigned long moves()
    {
        std::lock_guard<std::recursive_mutex> lock(log_);
        return moves_;
    }

  private:
    void note()
    {
        std::lock_guard<std::recursive_mutex> lock(log_);
        moves_++;
    }
    std::shared_timed_mutex table_;
    std::map<std::string, std::shared_ptr<Account>> accounts_;
    std::recursive_mutex log_;
    unsigned long moves_ = 0;
};

Bank bank;
Queue queue;

/* A line at a time: "move A B N", "sum". */
void serve(int fd)
{
    std::string text;
    char buffer[512];
    ssize_t got;
    while ((got = read(fd, buffer, sizeof buffer)) > 0) {
        text.append(buffer, static_cast<size_t>(got));
        for (size_t end; (end = text.find('\n')) != std::string::npos;) {
            std::string line = text.substr(0, end), answer = "ok\n";
            char from[32], to[32];
            long amount;
            text.erase(0, end + 1);
            if (std::sscanf(line.c_str(), "move %31s %31s %ld", from, to,
                            &amount) == 3)
                bank.move(from, to, amount);
            else if (line == "sum")
                answer = std::to_string(bank.sum()) + "\n";
            if (write(fd, answer.data(), answer.size()) < 0)
                break;
        }
    }
    close(fd);
}

bool ask(int fd, const std::string &line, std::string &answer)
{
    char c;
    answer.clear();
    if (write(fd, line.data(), line.size()) < 0)
        return false;
    while (read(fd, &c, 1) == 1) {
        if (c == '\n')
            return true;
        answer += c;
    }
    return false;
}

int joined(const sockaddr_un &name)
{
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (connect(fd, reinterpret_cast<const sockaddr *>(&name), sizeof name))
        std::exit(4);
    return fd;
}

long client(const sockaddr_un &name, unsigned which, unsigned requests)
{
    static std::once_flag once;
    int fd = joined(name);
    std::string answer;
    long wrong = 0;
    std::call_once(once, [] { bank.account("a0"); });
    for (unsigned i = 0; i < requests; i++) {
        std::string from = "a" + std::to_string((which * 7 + i) % 20);
        std::string to = "a" + std::to_string((which * 3 + i * 5) % 20);
        wrong += !ask(fd, "move " + from + " " + to + " 1\n", answer);
        if (i % 8 == 0)
            wrong += !ask(fd, "sum\n", answer); /* others may be moving */
    }
    close(fd);
    return wrong;
}

} // namespace

int main(int argc, char **argv)
{
    unsigned clients = argc > 1 ? static_cast<unsigned>(atoi(argv[1])) : 50;
    unsigned requests = argc > 2 ? static_cast<unsigned>(atoi(argv[2])) : 100;
    int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un name = {};
    std::vector<std::thread> pool;
    std::vector<std::future<long>> answers;
    long wrong = 0;
    name.sun_family = AF_UNIX;
    std::snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "server.%d",
                  static_cast<int>(getpid()));
    if (bind(listener, reinterpret_cast<sockaddr *>(&name), sizeof name) ||
        listen(listener, 128))
        return 3;
    for (unsigned i = 0; i < clients; i++)
        pool.emplace_back([] {
            std::function<void()> what;
            while (queue.take(what))
                what();
        });
    std::thread accepts([listener, clients] {
        for (unsigned i = 0; i < clients; i++) {
            int fd = accept(listener, nullptr, nullptr);
            queue.put([fd] { serve(fd); });
        }
    });
    for (unsigned i = 0; i < clients; i++)
        answers.push_back(
            std::async(std::launch::async, client, name, i, requests));
    for (auto &answer : answers)
        wrong += answer.get();
    accepts.join();
    queue.end();
    for (auto &thread : pool)
        thread.join();
    std::printf("%u clients, %lu moves, %ld wrong, sum %ld\n", clients,
                bank.moves(), wrong, bank.sum());
    return wrong ? 1 : 7;
}
