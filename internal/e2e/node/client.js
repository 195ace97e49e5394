// node client.js HOST:PORT|URL N: binds, submits N messages at once, waits for their
// answers and a delivery for each, logs out, and prints what it saw as JSON.
const smpp = require('smpp');

const [addr, count] = [process.argv[2], Number(process.argv[3])];
const saw = { answered: 0, ids: 0, delivered: 0, unbound: false };
const ids = new Set();
const texts = new Set();
const session = smpp.connect({ url: addr.includes('://') ? addr : 'smpp://' + addr, rejectUnauthorized: false });

session.on('error', (err) => { console.error(err); process.exit(1); });
session.on('close', () => { console.log(JSON.stringify(saw)); process.exit(0); });
session.on('deliver_sm', (pdu) => {
  session.send(pdu.response());
  texts.add(pdu.short_message.message);
  saw.delivered = texts.size;
  finish();
});
session.bind_transceiver({ system_id: 'acme', password: 's3cret', interface_version: 0x34 }, (bound) => {
  if (bound.command_status !== 0) {
    console.error('not bound', bound.command_status);
    process.exit(1);
  }
  for (let n = 0; n < count; n++) {
    session.submit_sm({
      source_addr: '1234', destination_addr: '46700000001', registered_delivery: 1,
      short_message: 'räksmörgås ' + n, data_coding: 8, user_message_reference: n,
    }, (answer) => {
      if (answer.command_status === 0) {
        saw.answered++;
        ids.add(answer.message_id);
        saw.ids = ids.size;
        finish();
      }
    });
  }
});

function finish() {
  if (saw.answered === count && saw.delivered === count) {
    session.unbind((pdu) => {
      saw.unbound = pdu.command_status === 0;
      session.close();
    });
  }
}
