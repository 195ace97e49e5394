import sqlite3, sys, threading
from serve import serve

lock = threading.Lock()
db = sqlite3.connect(sys.argv[2], check_same_thread=False, isolation_level=None)
db.execute("CREATE TABLE IF NOT EXISTS balances (account TEXT PRIMARY KEY, credits INTEGER)")

def verdict(message):
    with lock:
        paid = db.execute(
            "UPDATE balances SET credits = credits - 1 WHERE account = ? AND credits > 0", [message["account"]]
        ).rowcount
    return {} if paid else {"do": "refuse", "status": "rejected", "why": "the balance is used up"}

serve(verdict)
