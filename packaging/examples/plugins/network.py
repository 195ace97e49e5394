import json, sys, time, urllib.parse, urllib.request

known = {}  # number: its network, and until when

def network(number):
    found, until = known.get(number, ("", 0))
    if time.time() >= until:
        with urllib.request.urlopen(sys.argv[1] + urllib.parse.quote(number), timeout=2) as answer:
            found = json.load(answer)["network"]
        if len(known) >= 100_000:
            known.pop(next(iter(known)))
        known[number] = found, time.time() + 86_400
    return found

for line in sys.stdin:
    question = json.loads(line)
    verdict = {}
    try:
        verdict["tags"] = ["net:" + network(question["message"]["to"])]
    except Exception as problem:
        print("no network:", problem, file=sys.stderr)
    print(json.dumps({"n": question["n"], "verdict": verdict}), flush=True)
