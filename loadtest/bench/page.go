package bench

// pageTemplate is the page that WriteReport writes.
const pageTemplate = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>PMG bench, {{.When}}</title>
<style>
body { font: 15px/1.5 system-ui, sans-serif; max-width: 1240px; margin: 2em auto; padding: 0 1em; color: #222; }
h1, h2 { font-weight: 600; line-height: 1.2; } h2 { margin-top: 2em; }
table { border-collapse: collapse; font-size: 13px; font-variant-numeric: tabular-nums; }
th, td { padding: 2px 8px; text-align: right; border-bottom: 1px solid #e4e4e4; }
th { border-bottom-color: #888; } th:first-child, td:first-child { text-align: left; }
td.FAIL { color: #b00020; font-weight: 600; } td.pass { color: #1a7f37; }
.wide { overflow-x: auto; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(420px, 1fr)); gap: 1.5em; }
figure { margin: 0; } figure svg { width: 100%; height: auto; } figure svg text { font-family: system-ui, sans-serif !important; } figcaption { color: #666; font-size: 13px; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0 1em; font-size: 13px; } dd { margin: 0; }
</style>
<h1>Pipeline against classic</h1>
<p>{{with .Results}}{{$.When}}, {{.Machine.CPU}}, {{.Machine.Cores}} cores shared by gateway, load and sink, {{.Machine.System}},
{{.Machine.Go}}, pmg {{.Version}}. Messages per run: {{.Messages}}; rounds: {{.Rounds}}, medians shown, architectures in turn.{{end}}</p>
<ul>{{range .Findings}}<li>{{.}}</li>{{end}}</ul>
<h2>Charts</h2>
<p>By number of connections. info w10 (least logging, window 10) and debug w1 (everything logged, window 1) are the report's extremes.</p>
<div class="charts">{{range .Charts}}
<figure>{{.SVG}}{{with .Caption}}<figcaption>Compare the report's {{.}}.</figcaption>{{end}}</figure>{{end}}
</div>
<h2>The report's Table 4.1</h2>
<p>The report measured programs in C on four cores at 2.67 GHz; compare the columns in pairs. Here: info, window 10.</p>
{{template "grid" .Table41}}
{{range .Tables}}{{if .Grid.Rows}}<h2>{{.Title}}</h2>
<div class="wide">{{template "grid" .Grid}}</div>
{{end}}{{end}}
<h2>Columns</h2>
<dl>{{range .Metrics}}<dt>{{.Head}}</dt><dd>{{.Help}}</dd>{{end}}<dt>±%</dt><dd>half the range over the rounds, divided by the median</dd></dl>
</html>
{{define "grid"}}<table><tr>{{range .Head}}<th>{{.}}</th>{{end}}</tr>
{{range .Rows}}<tr>{{range .}}<td class="{{.}}">{{.}}</td>{{end}}</tr>
{{end}}</table>{{end}}
`
