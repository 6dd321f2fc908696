"""A plain client for comparison: it does what exo's bench client is known to do, written anew from that description.

Threads, a barrier, blocking HTTP, a connection that is opened after the barrier; prompts sized by bisection over full
tokenisations with transformers. Modes:

    arrive HOST PORT REQUESTS ATOMS     a round per line on stdin: REQUESTS threads post a prompt of ATOMS atoms
    stream HOST PORT REQUESTS           reads so many streams at once, then prints CPU seconds, tokens and peak memory
    size FOLDER LENGTH...               sizes prompts and prints CPU seconds and atoms per length
"""

import http.client
import json
import resource
import sys
import threading
import time


def body(atoms, stream):
    message = {"role": "user", "content": "a " * atoms}
    return json.dumps({"model": "peer", "messages": [message], "stream": stream, "max_tokens": 1})


def cpu_seconds():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def together(requests, one):
    """Runs `one` in so many threads that a barrier lets go together."""
    barrier = threading.Barrier(requests)

    def wait_then_go(index):
        barrier.wait()
        one(index)

    threads = [threading.Thread(target=wait_then_go, args=(index,)) for index in range(requests)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def post(host, port, text, accept):
    connection = http.client.HTTPConnection(host, port)
    headers = {"Content-Type": "application/json", "Accept": accept}
    connection.request("POST", "/bench/chat/completions", text, headers)
    return connection, connection.getresponse()


def arrive(host, port, requests, atoms):
    text = body(atoms, False)

    def one(_index):
        connection, response = post(host, port, text, "application/json")
        response.read()
        connection.close()

    for _line in sys.stdin:
        together(requests, one)
        print("done", flush=True)


def stream(host, port, requests):
    text = body(8, True)
    counts = [0] * requests

    def one(index):
        connection, response = post(host, port, text, "text/event-stream")
        seen = []
        for line in response:
            if line.startswith(b"data: {"):
                frame = json.loads(line[6:])
                seen.append((time.monotonic(), frame["choices"][0]["delta"]["content"]))
        counts[index] = len(seen)
        connection.close()

    before = cpu_seconds()
    together(requests, one)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps({"cpu_s": cpu_seconds() - before, "tokens": sum(counts), "peak_kib": peak}))


def size(folder, lengths):
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)

    def count(atoms):
        message = [{"role": "user", "content": "a " * atoms}]
        ids = tokenizer.apply_chat_template(message, add_generation_prompt=True)
        return len(ids["input_ids"] if not isinstance(ids, list) else ids)

    found = {}
    for length in lengths:
        before = cpu_seconds()
        base = count(0)
        per_atom = (count(100) - base) / 100
        estimate = int((length - base) / per_atom)
        low, high = 0, 2 * estimate + 100
        while low < high:
            middle = (low + high) // 2
            if count(middle) >= length:
                high = middle
            else:
                low = middle + 1
        assert count(low) == length
        found[str(length)] = {"cpu_s": cpu_seconds() - before, "atoms": low}
        print(f"peer: {length} sized", file=sys.stderr, flush=True)
    print(json.dumps(found))


if __name__ == "__main__":
    mode, rest = sys.argv[1], sys.argv[2:]
    if mode == "arrive":
        arrive(rest[0], int(rest[1]), int(rest[2]), int(rest[3]))
    elif mode == "stream":
        stream(rest[0], int(rest[1]), int(rest[2]))
    elif mode == "size":
        size(rest[0], [int(length) for length in rest[1:]])
    else:
        sys.exit(__doc__)
