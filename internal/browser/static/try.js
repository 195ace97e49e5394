// Sends the requests of the forms of /v1/docs. The login is read when a request is sent, and is kept nowhere.
const most = 100000; // characters of an answer that are shown
const patience = 60000; // milliseconds

// login returns the value of the header Authorization: a key, or a name and a password.
function login() {
  const text = document.getElementById('key').value.trim();
  const octets = String.fromCharCode(...new TextEncoder().encode(text));
  return text.includes(':') ? 'Basic ' + btoa(octets) : 'Bearer ' + octets;
}

// requestOf returns the URL and the options of the request that a form describes.
function requestOf(form) {
  const {method, kind} = form.dataset;
  const headers = new Headers({Authorization: login()});
  const query = new URLSearchParams();
  let path = form.dataset.path;
  for (const e of form.querySelectorAll('input[data-in]')) {
    if (e.dataset.in === 'path') path = path.replace('{' + e.dataset.name + '}', encodeURIComponent(e.value));
    else if (!e.value) continue;
    else if (e.dataset.in === 'query') query.set(e.dataset.name, e.value);
    else headers.set(e.dataset.name, e.value);
  }
  if (kind) headers.set('Content-Type', kind);
  const body = form.querySelector('textarea')?.value;
  const url = query.size ? path + '?' + query : path;
  // without credentials no cookie is sent, and a wrong login makes the browser open no window of its own
  return [url, {method, headers, body, credentials: 'omit', redirect: 'error', signal: AbortSignal.timeout(patience)}];
}

async function send(form, output) {
  output.hidden = false;
  output.textContent = '…';
  try {
    const answer = await fetch(...requestOf(form));
    const head = [...answer.headers].map(([name, value]) => name + ': ' + value).join('\n');
    let text = await answer.text();
    try { text = JSON.stringify(JSON.parse(text), null, 2); } catch { /* it is shown as it came */ }
    output.textContent = 'HTTP ' + answer.status + '\n' + head + '\n\n' + text.slice(0, most);
  } catch (e) {
    output.textContent = 'There is no answer: ' + e.message;
  }
}

document.getElementById('who').hidden = false;
for (const form of document.querySelectorAll('.try')) {
  form.hidden = false;
  const button = form.querySelector('button'), output = form.querySelector('pre');
  button.addEventListener('click', async () => {
    button.disabled = true;
    await send(form, output);
    button.disabled = false;
  });
}
