// node whole.js HOST:PORT N: binds, waits for N deliveries with message_payload, logs out, and
// prints the list of their texts as JSON.
const smpp = require('smpp');

const texts = [];
const session = smpp.connect({ url: 'smpp://' + process.argv[2] });

session.on('error', (err) => { console.error(err); process.exit(1); });
session.on('close', () => process.exit(0));
session.on('deliver_sm', (pdu) => {
  session.send(pdu.response());
  texts.push(pdu.message_payload.message);
  if (texts.length === Number(process.argv[3])) {
    console.log(JSON.stringify(texts));
    session.unbind(() => session.close());
  }
});
session.bind_transceiver({ system_id: 'acme', password: 's3cret', interface_version: 0x34 });
