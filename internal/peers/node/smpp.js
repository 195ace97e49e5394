// The npm package smpp as a client or an SMSC: node smpp.js client|smsc HOST:PORT [package]
const smpp = require(process.argv[4] || 'smpp');
const { emit, serve } = require('./wire');

const [role, address] = process.argv.slice(2);
const [host, port] = address.split(':');

// body returns the fields of a message for the library.
function body(m) {
  const fields = { source_addr: m.from, destination_addr: m.to };
  if (m.coding) fields.data_coding = m.coding;
  if (m.class) fields.esm_class = m.class;
  if (m.registered) fields.registered_delivery = m.registered;
  if (m.validity) fields.validity_period = m.validity;
  for (const [tag, value] of Object.entries(m.tlvs || {})) {
    smpp.addTLV('vendor_' + tag, { id: parseInt(tag, 16), type: smpp.types.tlv.buffer });
    fields['vendor_' + tag] = Buffer.from(value, 'hex');
  }
  const text = m.octets ? Buffer.from(m.octets, 'hex') : (m.text || '');
  if (m.payload) {
    fields.message_payload = text;
  } else if (m.udh) {
    fields.short_message = { udh: Buffer.from(m.udh, 'hex'), message: text };
  } else {
    fields.short_message = text;
  }
  return fields;
}

// seen returns what the library has made of a message.
function seen(pdu) {
  const content = (pdu.short_message && pdu.short_message.message.length ? pdu.short_message : pdu.message_payload) || { message: '' };
  const m = {
    from: pdu.source_addr, to: pdu.destination_addr, coding: pdu.data_coding,
    class: pdu.esm_class, registered: pdu.registered_delivery, id: pdu.message_id,
  };
  if (Buffer.isBuffer(content.message)) {
    m.octets = content.message.toString('hex');
    m.text = content.message.toString('latin1');
  } else {
    m.text = content.message;
  }
  return m;
}

function client() {
  const session = smpp.connect({ url: 'smpp://' + address });
  session.on('error', (err) => console.error(err));
  session.on('close', () => emit({ event: 'closed' }));
  for (const command of ['deliver_sm', 'data_sm']) {
    session.on(command, (pdu) => {
      session.send(pdu.response());
      emit({ event: 'deliver', command, ...seen(pdu) });
    });
  }
  session.on('enquire_link', (pdu) => session.send(pdu.response()));
  const done = (n) => (pdu) => emit({
    event: 'done', n, status: pdu.command_status, id: pdu.message_id, state: pdu.message_state,
  });
  serve({
    bind: (r) => session['bind_' + r.kind]({ system_id: r.name, password: r.password, interface_version: r.version }, done(r.n)),
    submit: (r) => session.submit_sm(body(r), done(r.n)),
    data: (r) => session.data_sm({ ...body(r), short_message: undefined, message_payload: r.text }, done(r.n)),
    multi: (r) => session.submit_multi({ ...body(r), dest_address: r.many.map((n) => ({ destination_addr: n })) }, done(r.n)),
    query: (r) => session.query_sm({ message_id: r.id, source_addr: r.from }, done(r.n)),
    cancel: (r) => session.cancel_sm({ message_id: r.id, source_addr: r.from, destination_addr: r.to }, done(r.n)),
    replace: (r) => session.replace_sm({ message_id: r.id, source_addr: r.from, short_message: r.text }, done(r.n)),
    enquire: (r) => session.enquire_link(done(r.n)),
    unbind: (r) => session.unbind(done(r.n)),
  });
}

function smsc() {
  const requests = new Map(); // that wait for their answers
  let latest, keys = 0;
  const server = smpp.createServer((session) => {
    session.on('error', () => {});
    for (const kind of ['transmitter', 'receiver', 'transceiver']) {
      session.on('bind_' + kind, (pdu) => {
        latest = session;
        session.send(pdu.response({ system_id: 'node' }));
        emit({ event: 'bound', kind, name: pdu.system_id, password: pdu.password, version: pdu.interface_version });
      });
    }
    for (const command of ['submit_sm', 'data_sm', 'query_sm', 'cancel_sm', 'replace_sm']) {
      session.on(command, (pdu) => {
        const key = String(++keys);
        requests.set(key, { pdu, session });
        emit({ event: 'submit', command, key, ...seen(pdu) });
      });
    }
    session.on('enquire_link', (pdu) => session.send(pdu.response()));
    session.on('unbind', (pdu) => {
      session.send(pdu.response());
      session.close();
      emit({ event: 'unbind' });
    });
  });
  server.listen(Number(port), host, () => emit({ event: 'listening' }));
  const done = (n) => (pdu) => emit({ event: 'done', n, status: pdu.command_status });
  serve({
    answer: (r) => {
      const { pdu, session } = requests.get(r.key);
      requests.delete(r.key);
      session.send(pdu.response({ command_status: r.status || 0, message_id: r.id || '', message_state: r.state || 0 }));
    },
    deliver: (r) => latest.deliver_sm(body(r), done(r.n)),
    enquire: (r) => latest.enquire_link(done(r.n)),
    close: () => latest.destroy(),
  });
}

role === 'client' ? client() : smsc();
