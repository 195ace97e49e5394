// node server.js [KEY CERTIFICATE]: with files of TLS, or without, prints the port it listens on, accepts every message and sends
// each text back as a delivery. When its input ends it prints how many different
// messages came, and ends.
const fs = require('fs');
const smpp = require('smpp');

const seen = new Set();
const bind = (session) => (pdu) => {
  const status = pdu.system_id === 'pmg' && pdu.password === 'secret' ? 0 : smpp.ESME_RBINDFAIL;
  session.send(pdu.response({ command_status: status, system_id: 'node' }));
};
const [key, cert] = process.argv.slice(2).map((file) => fs.readFileSync(file));
const server = smpp.createServer(key ? { key, cert } : {}, (session) => {
  session.on('error', () => {});
  session.on('bind_transceiver', bind(session));
  session.on('enquire_link', (pdu) => session.send(pdu.response()));
  session.on('unbind', (pdu) => { session.send(pdu.response()); session.close(); });
  session.on('submit_sm', (pdu) => {
    const text = pdu.short_message.message;
    session.send(pdu.response({ message_id: String(pdu.user_message_reference) }));
    if (text === 'räksmörgås ' + pdu.user_message_reference) {
      seen.add(text);
    }
    session.deliver_sm({
      source_addr: pdu.destination_addr, destination_addr: pdu.source_addr,
      short_message: text, data_coding: pdu.data_coding,
    });
  });
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
process.stdin.resume();
process.stdin.on('end', () => { console.log(seen.size); process.exit(0); });
