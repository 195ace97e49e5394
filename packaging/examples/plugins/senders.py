import csv, json, os, sys

registered, read = set(), None

def allowed(account, sender):
    global registered, read
    changed = os.stat(sys.argv[1]).st_mtime_ns
    if changed != read:
        with open(sys.argv[1], newline="", encoding="utf-8-sig") as file:
            registered = {(row["account"], row["sender"].lower()) for row in csv.DictReader(file)}
        read = changed
    return (account, sender.lower()) in registered

for line in sys.stdin:
    question = json.loads(line)
    message, verdict = question["message"], {}
    if not allowed(message["account"], message["from"]):
        verdict = {"do": "refuse", "status": "bad_source", "why": "the sender is not registered"}
    print(json.dumps({"n": question["n"], "verdict": verdict}), flush=True)
