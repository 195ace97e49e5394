import http.server, json, sys

def serve(verdict):
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"  # so that connections are kept
        wbufsize = -1  # so that an answer is one packet

        def do_POST(self):
            question = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            answer = json.dumps({"verdicts": [verdict(m) for m in question["messages"]]}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_):
            pass

    http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
