import hashlib, json, re, sys

def short(url):
    return "https://s.example/" + hashlib.sha256(url.group(0).encode()).hexdigest()[:8]

for line in sys.stdin:
    question = json.loads(line)
    text = question["message"]["text"]
    changed = re.sub(r"https?://\S{20,}", short, text)
    verdict = {"text": changed} if changed != text else {}
    print(json.dumps({"n": question["n"], "verdict": verdict}), flush=True)
