#!/usr/bin/env python3
"""A Holdfast worker in plain Python: claims jobs, keeps their leases alive, reports how they end.

Usage: HOLDFAST_TOKEN=... worker.py http://127.0.0.1:8080 QUEUE [JOBS]
"""
import json, os, sys, threading, urllib.error, urllib.request, uuid

SERVER, QUEUE, LEFT = sys.argv[1], sys.argv[2], int((sys.argv + ["-1"])[3])
NAME = f"python-{uuid.uuid4().hex[:8]}"


def call(path, body):
    """Sends the same request until it is answered: all of them may be repeated."""
    headers = {"Content-Type": "application/json"}
    if os.environ.get("HOLDFAST_TOKEN"):
        headers["Authorization"] = "Bearer " + os.environ["HOLDFAST_TOKEN"]
    request = urllib.request.Request(SERVER + "/api/v1" + path, json.dumps(body).encode(), headers)
    while True:
        try:
            with urllib.request.urlopen(request, timeout=90) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            if error.code < 500 and error.code not in (408, 429):
                raise RuntimeError(f"{path}: {error.code} {error.read().decode()}")
        except OSError:
            pass  # the server is away: again
        threading.Event().wait(1)


class Stopped(Exception):
    """Says that a job ended early because it was told to."""


def run(job, log):
    """What the job does: returns its result, or raises to fail. Asks `log.stopped` now and then."""
    log(f"adding up {job['args']}")
    total = 0
    for number in job["args"]["numbers"]:
        if log.stopped:
            raise Stopped
        total += number
    return {"sum": total}


def serve(lease):
    job, fence, over = lease["job"], lease["fence"], threading.Event()
    mine = {"job_id": job["id"], "fence": fence}
    log = lambda line: call(f"/jobs/{job['id']}/logs", {"fence": fence, "lines": [line]})
    log.stopped = False

    def beat():
        while not over.wait(lease["lease_seconds"] / 3):
            reply = call("/leases/extend", {"worker": NAME, "leases": [mine]})["results"][0]
            log.stopped = reply["status"] != "extended"

    threading.Thread(target=beat, daemon=True).start()
    try:
        end = {"outcome": "succeeded", "result": run(job, log)}
    except Stopped:
        end = {"outcome": "stopped"}
    except Exception as error:
        end = {"outcome": "failed", "error_code": type(error).__name__, "error_message": str(error)}
    over.set()
    call("/leases/finish", {"worker": NAME, "results": [{**mine, **end}]})


while LEFT != 0:
    asked = {"worker": NAME, "queues": [QUEUE], "wait_seconds": 30, "claim_id": str(uuid.uuid4())}
    for granted in call("/leases", asked)["leases"]:
        serve(granted)
        LEFT -= 1
