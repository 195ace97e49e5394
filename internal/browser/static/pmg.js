// Keeps a page up to date: its stream tells what has changed, by the keys of its cells. A page that nobody sees has no stream.
const main = document.querySelector('main');
const note = document.getElementById('live');
const pause = document.getElementById('pause');
let stream, paused = false, whole = true; // whole: the next event has all cells

function apply(cells) {
  const shown = new Map();
  for (const e of main.querySelectorAll('[data-k]')) shown.set(e.dataset.k, e);
  for (const [key, text] of Object.entries(cells)) {
    const e = shown.get(key);
    if (!e) return refresh();
    e.textContent = text;
    if ('v' in e.dataset) e.dataset.v = text;
  }
  if (whole && shown.size !== Object.keys(cells).length) refresh(); // it has rows that are gone
  whole = false;
  main.dispatchEvent(new Event('updated'));
}

// isFilled reports whether somebody has changed a field of a form.
function isFilled(field) {
  if (field.tagName !== 'SELECT') return field.value !== field.defaultValue || field.checked !== field.defaultChecked;
  return field.selectedIndex > 0 && !field.options[field.selectedIndex].defaultSelected;
}

// isBusy reports whether somebody works in the page: a refresh would remove what was written.
function isBusy() {
  const at = document.activeElement;
  if (main.contains(at) && at.matches('input, button, select, textarea')) return true;
  return [...main.querySelectorAll('input, select, textarea')].some(isFilled);
}

// refresh takes the rows of the page as they are now, unless somebody works in it.
async function refresh() {
  if (isBusy()) return;
  const answer = await fetch(location.href, {headers: {Accept: 'text/html'}});
  if (answer.redirected) return location.assign(answer.url);
  if (!answer.ok) return;
  const other = new DOMParser().parseFromString(await answer.text(), 'text/html').querySelector('main');
  if (isBusy()) return; // since it was asked for
  const opened = [...main.querySelectorAll('details.more')].map((d) => d.open);
  main.replaceChildren(...other.childNodes);
  main.querySelectorAll('details.more').forEach((d, i) => { d.open = opened[i] ?? false; });
  main.dispatchEvent(new Event('updated'));
}

function addRow(body, texts) {
  const row = body.insertRow(0);
  texts.forEach((text) => { row.insertCell().textContent = text; });
  row.lastChild.className = 'text';
}

// addLines puts lines of the pdu log above those that are there, of which as many stay as the page may have.
function addLines({first, left_out, lines}) {
  const body = document.getElementById('log');
  if (first) body.replaceChildren();
  if (left_out) addRow(body, ['', '', '', left_out + ' lines left out']);
  for (const line of lines) addRow(body, [line.time, line.session, line.way, line.pdu]);
  while (body.rows.length > body.dataset.most) body.lastElementChild.remove();
}

function open() {
  if (!main.dataset.stream || document.hidden || paused || stream) return;
  stream = new EventSource(main.dataset.stream);
  whole = true;
  stream.onopen = () => { note.hidden = true; whole = true; };
  stream.onmessage = (e) => apply(JSON.parse(e.data));
  stream.addEventListener('stale', () => { whole = true; refresh(); });
  stream.addEventListener('lines', (e) => addLines(JSON.parse(e.data)));
  stream.onerror = () => {
    note.hidden = false;
    if (stream.readyState === EventSource.CLOSED) { close(); setTimeout(open, 5000); }
  };
}

function close() {
  stream?.close();
  stream = undefined;
}

if (pause) {
  pause.hidden = false;
  pause.addEventListener('click', () => {
    paused = !paused;
    pause.textContent = paused ? 'Resume' : 'Pause';
    if (paused) close(); else open();
  });
}
document.addEventListener('visibilitychange', () => (document.hidden ? close() : open()));
addEventListener('pagehide', close);
document.addEventListener('submit', (e) => {
  const question = e.target.dataset.confirm;
  if (question && !confirm(question)) e.preventDefault();
});
document.addEventListener('keydown', (e) => {
  const filter = document.querySelector('input[name=filter], input[name=find], input[name=q]');
  if (e.key === '/' && filter && !e.target.matches('input')) { e.preventDefault(); filter.focus(); }
});
open();
