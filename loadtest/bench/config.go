package bench

import (
	"bytes"
	"text/template"
)

// A gatewayConfig holds the values that differ between the configurations of gateways.
type gatewayConfig struct {
	Setting
	Protocol string // smpp if empty
	Dir      string // of the files
	Sink     string // address of the SMSC
	Sessions int    // with the SMSC
	MaxQueue int    // 0: the default
	Silent   string // address of an SMSC that never answers, for destinations that begin with 999; "": there is none
}

// gatewayTemplate is the configuration of a gateway. The pdu log is limited and not
// compressed, because filling the disk or compressing would be measured too; unless the gateway is as operators run it.
const gatewayTemplate = `log: {level: {{.Level}}, format: json}
pdulog: {dir: "{{.Dir}}/pdulog", enabled: {{.PDULog}}, compress: {{.Operated}}, keep: 1}
{{- if .Operated}}
events: {dir: "{{.Dir}}/events"}
stats: {dir: "{{.Dir}}/stats"}
{{- end}}
store: {engine: {{.Engine}}, dir: "{{.Dir}}/data", ballast: 0B, min_free: 1MiB}
admin: {address: "127.0.0.1:0"}
accounts:
  - {system_id: load, password: secret}
connectors:
{{- if .ByHTTP}}
  - {name: clients, direction: in, protocol: http, address: "127.0.0.1:0"}
{{- else}}
  - {name: clients, direction: in, protocol: {{or .Protocol "smpp"}}, address: "127.0.0.1:0", instances: 1000, window: {{if eq .Protocol "ucp"}}99{{else}}100{{end}}}
{{- end}}
  - {name: operator, direction: out, protocol: {{or .Protocol "smpp"}}, address: "{{.Sink}}", instances: {{.Sessions}}, window: {{.Window}},
     {{- with .MaxQueue}} max_queue: {{.}}, {{end}} reconnect_delay: 100ms,
     system_id: pmg, password: secret}
{{- if .Silent}}
  - {name: silent, direction: out, protocol: smpp, address: "{{.Silent}}", max_queue: 1000,
     system_id: pmg, password: secret, bind: transceiver}
{{- end}}
routes:
{{- if .Silent}}
  - {destination: "999", to: silent}
{{- end}}
  - {to: operator}
`

// Level returns the log level.
func (g gatewayConfig) Level() string {
	if g.Logs == LogsAll {
		return "debug"
	}
	return "info"
}

// Engine returns the engine of the store.
func (g gatewayConfig) Engine() string {
	if g.Store == InMemory {
		return "memory"
	}
	return g.Store
}

// PDULog reports whether there is one.
func (g gatewayConfig) PDULog() bool { return g.Logs != LogsNothing }

// Operated reports whether the gateway is as operators run it.
func (g gatewayConfig) Operated() bool { return g.Logs == LogsOperated }

// yaml returns the configuration of a gateway that writes its files below dir.
func (g gatewayConfig) yaml(dir string) []byte {
	g.Dir = dir
	var b bytes.Buffer
	if err := template.Must(template.New("").Parse(gatewayTemplate)).Execute(&b, g); err != nil {
		panic(err) // the template does not fit the type
	}
	return b.Bytes()
}
