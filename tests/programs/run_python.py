"""Threads, queues, locks and processes, as Python is written: recorder run."""
# SPDX-License-Identifier: MIT
import concurrent.futures
import queue
import subprocess
import sys
import threading

todo, done = queue.Queue(8), queue.PriorityQueue()
table, ready = {}, threading.Condition()
lock, again, few = threading.Lock(), threading.RLock(), threading.Semaphore(2)
all_there, over = threading.Barrier(6), threading.Event()


def works(which):
    """Takes numbers until there are no more."""
    all_there.wait()
    while True:
        number = todo.get()
        if number is None:
            break
        with few:
            if number % 40 == 0:
                text = subprocess.run(["echo", str(number)], check=True,
                                      stdout=subprocess.PIPE).stdout
                number = int(text)
        with again, lock, again:
            table[number] = table.get(number, 0) + 1
        with ready:
            done.put(number * number)
            ready.notify()
    over.wait()
    return which


def main():
    count = int(sys.argv[1])
    with concurrent.futures.ThreadPoolExecutor(5) as pool:
        results = [pool.submit(works, i) for i in range(5)]
        all_there.wait()
        for i in range(count):
            todo.put(i)
        for _ in results:
            todo.put(None)
        with ready:
            while not ready.wait_for(lambda: done.qsize() == count, 0.01):
                pass
        over.set()
        print(sorted(result.result() for result in results))
    beat = threading.Timer(0.01, print, ["beat"])
    beat.start()
    beat.join()
    print(sum(done.get() for _ in range(count)), len(table))
    processes = [subprocess.Popen(["sh", "-c", "cat; exit %d" % i],
                                  stdin=subprocess.PIPE) for i in range(4)]
    with concurrent.futures.ThreadPoolExecutor() as pool:
        list(pool.map(lambda p: p.communicate(b""), processes))
    print([process.returncode for process in processes])
    sys.exit(6)


main()
