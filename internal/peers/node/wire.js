// The requests of the tests, one line of JSON each, and the events that answer them.
const readline = require('readline');

exports.emit = (event) => process.stdout.write(JSON.stringify(event) + '\n');

// serve calls the function of a request's name with it. What it throws ends the request.
exports.serve = (functions) => {
  const lines = readline.createInterface({ input: process.stdin });
  lines.on('line', (line) => {
    const request = JSON.parse(line);
    try {
      functions[request.do](request);
    } catch (err) {
      exports.emit({ event: 'done', n: request.n, error: String(err) });
    }
  });
  lines.on('close', () => process.exit(0));
};
