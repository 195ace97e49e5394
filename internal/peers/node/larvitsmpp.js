// The npm package larvitsmpp as a client or an SMSC: node larvitsmpp.js client|smsc HOST:PORT
const larvitsmpp = require('larvitsmpp');
const defs = require('larvitsmpp/lib/defs');
const utils = require('larvitsmpp/lib/utils');
const { emit, serve } = require('./wire');

const [role, address] = process.argv.slice(2);
const [host, port] = address.split(':');
const quiet = () => {};
const log = { silly: quiet, debug: quiet, verbose: quiet, info: quiet, warn: quiet, error: (text) => console.error(text) };

// body returns the fields of a message for the library.
function body(m) {
  const params = { source_addr_ton: 1, source_addr: m.from || '', registered_delivery: m.registered || 0 };
  const tlvs = {};
  if (m.to) params.destination_addr = m.to;
  if (m.class) params.esm_class = m.class;
  if (m.coding) params.data_coding = m.coding;
  if (m.validity) params.validity_period = m.validity;
  if (m.octets) {
    params.short_message = Buffer.from((m.udh || '') + m.octets, 'hex');
    params.sm_length = params.short_message.length;
  } else if (m.payload) {
    tlvs.message_payload = { tagId: 0x0424, tagValue: m.text };
  } else if (m.coding === 8) {
    params.short_message = defs.encodings.UCS2.encode(m.text);
    params.sm_length = params.short_message.length;
  } else {
    params.short_message = m.text;
  }
  for (const [tag, value] of Object.entries(m.tlvs || {})) {
    tlvs[tag] = { tagId: parseInt(tag, 16), tagValue: Buffer.from(value, 'hex') };
  }
  return { params, tlvs };
}

// seen returns what the library has made of a message.
function seen(pdu) {
  const p = pdu.params;
  const m = { from: p.source_addr, to: p.destination_addr, class: p.esm_class, coding: p.data_coding, id: p.message_id };
  if (Buffer.isBuffer(p.short_message)) { // it has a user data header
    m.octets = p.short_message.toString('hex');
    m.text = utils.decodeMsg(p.short_message, p.data_coding, p.short_message[0] + 1);
  } else {
    m.text = p.short_message || '';
  }
  if (pdu.tlvs.message_payload) m.text = Buffer.from(pdu.tlvs.message_payload.tagValue, 'hex').toString('latin1');
  return m;
}

// asked sends a request, whose answer ends that of the test.
function asked(session, r, cmdName, fields) {
  session.send({ cmdName, ...fields }, (err, pdu) => emit({
    event: 'done', n: r.n, status: defs.errors[pdu.cmdStatus], error: err ? String(err) : '',
    id: pdu.params.message_id, state: pdu.params.message_state,
  }));
}

function client() {
  let session;
  serve({
    bind: (r) => larvitsmpp.client({ host, port: Number(port), username: r.name, password: r.password, log }, (err, s) => {
      session = s;
      if (!err) {
        session.on('dlr', (dlr) => emit({ event: 'deliver', class: 4, text: `id:${dlr.smsId} sub: stat:${dlr.statusMsg === 'DELIVERED' ? 'DELIVRD' : dlr.statusMsg.slice(0, 7)}` }));
        const receipt = session.handleCmd.deliver_sm; // it knows receipts alone
        session.handleCmd.deliver_sm = (pdu) => {
          if (pdu.params.esm_class & 4) return receipt(pdu);
          session.sendReturn(pdu);
          emit({ event: 'deliver', command: 'deliver_sm', ...seen(pdu) });
        };
      }
      emit({ event: 'done', n: r.n, status: err ? 13 : 0 });
    }),
    submit: (r) => {
      if (!r.parts) return asked(session, r, 'submit_sm', body(r));
      session.sendSms({ from: r.from, to: r.to, message: r.text }, (err, ids) => emit({ event: 'done', n: r.n, status: err ? 1 : 0, id: ids[0] }));
    },
    data: (r) => asked(session, r, 'data_sm', body({ ...r, payload: true })),
    multi: (r) => {
      const { params } = body(r);
      params.dest_address = r.many.map((n) => ({ destination_addr: n }));
      asked(session, r, 'submit_multi', { params });
    },
    query: (r) => asked(session, r, 'query_sm', { params: { message_id: r.id, source_addr: r.from } }),
    cancel: (r) => asked(session, r, 'cancel_sm', { params: { message_id: r.id, source_addr: r.from, destination_addr: r.to } }),
    replace: (r) => asked(session, r, 'replace_sm', { params: { message_id: r.id, source_addr: r.from, short_message: r.text } }),
    enquire: (r) => asked(session, r, 'enquire_link', {}),
    unbind: (r) => asked(session, r, 'unbind', {}),
  });
}

function smsc() {
  const requests = new Map(); // that wait for their answers
  let latest, keys = 0;
  larvitsmpp.server({
    host, port: Number(port), log,
    checkuserpass: (name, password, done) => {
      done(null, true);
      emit({ event: 'bound', name, password });
    },
  }, (err, session) => {
    latest = session;
    for (const command of ['submit_sm', 'data_sm', 'query_sm', 'cancel_sm']) {
      session.handleCmd[command] = (pdu) => {
        const key = String(++keys);
        requests.set(key, { pdu, session });
        emit({ event: 'submit', command, key, ...seen(pdu) });
      };
    }
    session.on('incomingPduObj', (pdu) => pdu.cmdName === 'unbind' && emit({ event: 'unbind' }));
  });
  emit({ event: 'listening' });
  serve({
    answer: (r) => {
      const { pdu, session } = requests.get(r.key);
      requests.delete(r.key);
      session.sendReturn(pdu, defs.errorsById[r.status || 0], { message_id: r.id || '', message_state: r.state || 0 });
    },
    deliver: (r) => asked(latest, r, 'deliver_sm', body(r)),
    enquire: (r) => asked(latest, r, 'enquire_link', {}),
    close: () => latest.closeSocket(),
  });
}

role === 'client' ? client() : smsc();
