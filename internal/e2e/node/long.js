// node long.js HOST:PORT JSON: binds, submits each text of a list of {coding, text} whole,
// waits for deliveries of all their parts, joins them, logs out, and prints the list of the
// joined texts as JSON.
const smpp = require('smpp');

const texts = JSON.parse(process.argv[3]);
const sets = new Map(); // by reference and data_coding: how many parts, and the texts by number
const session = smpp.connect({ url: 'smpp://' + process.argv[2] });

session.on('error', (err) => { console.error(err); process.exit(1); });
session.on('close', () => process.exit(0));
session.on('deliver_sm', (pdu) => {
  session.send(pdu.response());
  const [, , reference, total, number] = pdu.short_message.udh[0];
  const key = pdu.data_coding + ' ' + reference;
  if (!sets.has(key)) {
    sets.set(key, { total, parts: [] });
  }
  sets.get(key).parts[number - 1] = pdu.short_message.message;
  const all = [...sets.values()];
  if (all.length === texts.length && all.every((s) => s.parts.filter(Boolean).length === s.total)) {
    console.log(JSON.stringify(all.map((s) => s.parts.join(''))));
    session.unbind(() => session.close());
  }
});
session.bind_transceiver({ system_id: 'acme', password: 's3cret', interface_version: 0x34 }, () => {
  for (const { coding, text } of texts) {
    session.submit_sm({
      source_addr: '1234', destination_addr: '46700000001',
      data_coding: coding, message_payload: { message: text },
    });
  }
});
