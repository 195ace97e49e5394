// Draws the last hour. The figures come as JSON once; then the page's stream brings each new sample in a cell of the page.
/* global uPlot */
const main = document.querySelector('main');
const hour = 3600;
let range = hour; // seconds that are shown
const dark = matchMedia('(prefers-color-scheme: dark)');

const short = new Intl.NumberFormat('en', {notation: 'compact', maximumFractionDigits: 1});
const number = (v) => (v == null ? '–' : v < 10 ? String(Math.round(v * 10) / 10) : Math.round(v).toLocaleString('en'));
const duration = (v) => (v == null ? '–' : v < 1 ? `${Number((v * 1000).toPrecision(3))} ms` : `${Number(v.toPrecision(3))} s`);
const clock = (v, to) => new Date(v * 1000).toISOString().slice(11, to);

// A chart has lines: the figure, its name, its color in the style sheet, and its dashes. Its axis goes up to least, or further.
const kinds = [
  {title: 'Messages a second', least: 10, text: number, axis: (v) => short.format(v),
    lines: [['in', 'in', '--line-1'], ['out', 'out', '--line-2'], ['receipts', 'receipts', '--line-3', [6, 4]]]},
  {title: 'Messages queued', least: 10, text: number, axis: (v) => short.format(v), lines: [['waiting', 'queued', '--line-1'], ['waiting_for_clients', 'for clients', '--line-2', [6, 4]]]},
  {title: 'Time to the answer', least: 0.001, text: duration, axis: duration,
    lines: [['answer_median_seconds', 'median', '--line-1'], ['answer_p95_seconds', '95 %', '--line-2']]},
];

let figures; // lists by name, as the gateway answers them
let charts = [];
let isLoading = false;
let isOpen = false; // the table

// alone returns the places of values between unknown ones, which no line shows.
const alone = (u, line) => u.data[line].flatMap((v, i, all) => (v != null && all[i - 1] == null && all[i + 1] == null ? [i] : []));

// isOf reports whether the figures are those of a connector, or of an account.
const isOf = (what) => main.querySelector('.charts').dataset.url.includes(`?${what}=`);

// linesOf returns the lines of a chart that the page has figures of: what waits for clients is of the whole, receipts are not counted by account.
const linesOf = (kind) => kind.lines.filter(([figure]) => !(figure === 'waiting_for_clients' && (isOf('connector') || isOf('account'))) && !(figure === 'receipts' && isOf('account')));

// shownKinds returns the charts of the page: the time to the answer is an SMSC's.
const shownKinds = () => kinds.filter((kind) => !(kind.axis === duration && isOf('account')));

function dataOf(kind) {
  return figures ? [figures.time, ...linesOf(kind).map(([figure]) => figures[figure])] : [[], ...linesOf(kind).map(() => [])];
}

function chart(kind, box) {
  const style = getComputedStyle(document.documentElement);
  const color = (name) => style.getPropertyValue(name).trim();
  const axis = {stroke: color('--quiet'), font: '12px system-ui, sans-serif', ticks: {show: false}, grid: {stroke: color('--grid'), width: 1}};
  return new uPlot({
    width: box.clientWidth, height: 170,
    cursor: {drag: {x: false, y: false}, sync: {key: 'hour'}, points: {size: 6}},
    legend: {markers: {width: 0, fill: (u, line) => color(linesOf(kind)[line - 1]?.[2] ?? '--box')}},
    scales: {
      x: {range: () => { // from the first sample on, but a minute at least
        const end = figures?.time.at(-1) ?? Date.now() / 1000;
        return [Math.max(end - range, Math.min(figures?.time[0] ?? end - range, end - 60)), end];
      }},
      y: {range: (u, low, high) => [0, Math.max(kind.least, (high ?? 0) * 1.1)]},
    },
    axes: [
      {...axis, size: 26, space: 60, values: (u, ticks) => ticks.map((v) => clock(v, 16))},
      {...axis, size: 56, space: 32, values: (u, ticks) => ticks.map(kind.axis)},
    ],
    series: [
      {label: 'UTC', value: (u, v) => (v == null ? (u.data[0].length ? clock(u.data[0].at(-1), 19) : '–') : clock(v, 19))},
      ...linesOf(kind).map(([, label, name, dash]) => ({
        label, dash, width: 1.75, stroke: color(name), fill: linesOf(kind).length === 1 ? `${color(name)}22` : undefined, points: {show: false, filter: alone, size: 4},
        value: (u, v, line, i) => kind.text(i == null ? u.data[line].at(-1) : v),
      })),
    ],
  }, dataOf(kind), box);
}

// build makes the charts anew: the page has other rows, or other colors.
function build(place) {
  for (const c of charts) c.plot.destroy();
  const boxes = shownKinds().map((kind) => {
    const figure = document.createElement('figure');
    const title = document.createElement('figcaption');
    const box = document.createElement('div');
    title.textContent = kind.title;
    figure.append(title, box);
    place.append(figure);
    return box;
  });
  main.querySelector('.ranges').hidden = false;
  for (const b of main.querySelectorAll('.ranges button')) b.setAttribute('aria-pressed', String(b.dataset.minutes * 60 === range));
  charts = shownKinds().map((kind, i) => ({kind, box: boxes[i], plot: chart(kind, boxes[i])})); // when all are there, and as wide as they will be
  for (const {plot} of charts) plot.root.setAttribute('role', 'img');
  main.querySelector('.hour details').open = isOpen;
}

function draw() {
  for (const {kind, plot} of charts) {
    plot.setData(dataOf(kind));
    const latest = linesOf(kind).map(([figure, label]) => `${label} ${kind.text(figures?.[figure].at(-1))}`);
    plot.root.setAttribute('aria-label', `${kind.title}, chart of the last hour. Now: ${latest.join(', ')}.`);
  }
}

// add adds a sample, and reports whether it is the one behind the last.
function add(sample) {
  const passed = sample.time[0] - figures?.time.at(-1);
  if (!(passed > 0 && passed < 1.5 * figures.period_seconds)) return false;
  for (const [name, list] of Object.entries(figures)) {
    if (!Array.isArray(list)) continue;
    list.push(...sample[name]);
    if (list.length > hour / figures.period_seconds) list.shift();
  }
  return true;
}

async function load(place) {
  if (isLoading) return;
  isLoading = true;
  try {
    const answer = await fetch(place.dataset.url);
    if (answer.ok) figures = await answer.json();
  } finally {
    isLoading = false;
  }
}

async function update() {
  const place = main.querySelector('.charts');
  if (!place) return;
  const isNew = !place.firstChild;
  if (isNew) build(place);
  const text = main.querySelector('[data-k=hour]').textContent;
  const sample = text && JSON.parse(text);
  const isKnown = sample && sample.time[0] === figures?.time.at(-1);
  if (sample && !isKnown && !add(sample)) await load(place);
  if (isNew || !isKnown) draw();
}

new ResizeObserver(() => {
  for (const {box, plot} of charts) if (box.isConnected && plot.width !== box.clientWidth) plot.setSize({width: box.clientWidth, height: plot.height});
}).observe(main);
dark.addEventListener('change', () => {
  main.querySelector('.charts')?.replaceChildren();
  update();
});
main.addEventListener('click', (e) => {
  const minutes = e.target.dataset?.minutes;
  if (!minutes) return;
  range = minutes * 60;
  for (const b of main.querySelectorAll('.ranges button')) b.setAttribute('aria-pressed', String(b === e.target));
  draw();
});
main.addEventListener('toggle', (e) => { if (e.target.matches('.hour details')) isOpen = e.target.open; }, true);
main.addEventListener('updated', update);
update();
