package reference

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"text/template"
)

// An example is a program that carries out an operation.
type example struct{ Language, Text string }

// A call is an operation as the examples make it.
type call struct {
	Method, URL, Kind, Body string
}

// languages are the languages of the examples, each with the template of a program. Programs have the key in the environment.
var languages = []struct{ name, text string }{
	{"curl", `curl --fail-with-body{{if ne .Method "GET"}} -X {{.Method}}{{end}} '{{.URL}}' \
  -H "Authorization: Bearer $PMG_KEY"{{if .Kind}} \
  -H 'Content-Type: {{.Kind}}' \
  --data-binary {{shell .Body}}{{end}}
`},
	{"JavaScript", `const answer = await fetch('{{.URL}}', {
  method: '{{.Method}}',
  headers: {
    'Authorization': 'Bearer ' + process.env.PMG_KEY,{{if .Kind}}
    'Content-Type': '{{.Kind}}',{{end}}
  },{{if .Kind}}
  body: {{javascript .Body}},{{end}}
});
const text = await answer.text();
if (!answer.ok) throw new Error(text);
console.log(text);
`},
	{"Python", `import os
import urllib.request

request = urllib.request.Request(
    "{{.URL}}",
    method="{{.Method}}",
    headers={
        "Authorization": "Bearer " + os.environ["PMG_KEY"],{{if .Kind}}
        "Content-Type": "{{.Kind}}",{{end}}
    },{{if .Kind}}
    data={{python .Body}}.encode(),{{end}}
)
with urllib.request.urlopen(request, timeout=60) as answer:
    print(answer.read().decode())
`},
	{"Go", `package main

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"os"{{if .Kind}}
	"strings"{{end}}
)

func main() {
	request, err := http.NewRequest("{{.Method}}", "{{.URL}}", {{if .Kind}}strings.NewReader({{golang .Body}}){{else}}nil{{end}})
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("PMG_KEY")){{if .Kind}}
	request.Header.Set("Content-Type", "{{.Kind}}"){{end}}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode >= 300 {
		log.Fatal(answer.Status, err, string(body))
	}
	fmt.Println(string(body))
}
`},
	{"PHP", `<?php
$call = curl_init('{{.URL}}');
curl_setopt_array($call, [
    CURLOPT_CUSTOMREQUEST => '{{.Method}}',
    CURLOPT_HTTPHEADER => [
        'Authorization: Bearer ' . getenv('PMG_KEY'),{{if .Kind}}
        'Content-Type: {{.Kind}}',{{end}}
    ],{{if .Kind}}
    CURLOPT_POSTFIELDS => <<<'BODY'
{{.Body}}
BODY,{{end}}
    CURLOPT_RETURNTRANSFER => true,
]);
$answer = curl_exec($call);
if ($answer === false || curl_getinfo($call, CURLINFO_RESPONSE_CODE) >= 300) {
    fwrite(STDERR, curl_error($call) . $answer);
    exit(1);
}
echo $answer;
`},
}

// quotes write a text as a literal of a language.
var quotes = template.FuncMap{
	"shell": func(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" },
	"javascript": func(s string) string {
		return "`" + strings.NewReplacer(`\`, `\\`, "`", "\\`", "${", `\${`).Replace(s) + "`"
	},
	"python": func(s string) string { return "'''" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(s) + "'''" },
	"golang": func(s string) string {
		if strings.Contains(s, "`") {
			return strconv.Quote(s)
		}
		return "`" + s + "`"
	},
}

// examples returns programs that carry out an operation at an origin.
func (o *operation) examples(origin string) (all []example, err error) {
	c := call{o.Method, origin + o.target(), o.Kind(), o.Body()}
	for _, l := range languages {
		var b strings.Builder
		t, err := template.New(l.name).Funcs(quotes).Parse(l.text)
		if err == nil {
			err = t.Execute(&b, c)
		}
		if err != nil {
			return nil, fmt.Errorf("cannot write the example in %s: %w", l.name, err)
		}
		all = append(all, example{l.name, b.String()})
	}
	return all, nil
}

// target returns the path and the query of the operation, with the parameters that have an example.
func (o *operation) target() string {
	path, query := o.Path, url.Values{}
	for _, p := range o.Parameters {
		switch {
		case p.Example == nil:
		case p.In == "path":
			path = strings.ReplaceAll(path, "{"+p.Name+"}", url.PathEscape(fmt.Sprint(p.Example)))
		case p.In == "query":
			query.Set(p.Name, fmt.Sprint(p.Example))
		}
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return path
}
