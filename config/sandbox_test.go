package config

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pmg/config/document"
)

// A connector of protocol test leads out, to no address, and the check says that its messages do not leave.
func TestSandbox(t *testing.T) {
	t.Parallel()
	parse := func(options string) (*Config, []document.Warning, error) {
		return Parse(fmt.Appendf(nil, "connectors:\n  - {name: sandbox, protocol: test, %s}\nroutes:\n  - {to: sandbox}\n", options), Options{Protocols: []string{"test"}})
	}
	c, warnings, err := parse("direction: out")
	if err != nil {
		t.Fatal(err)
	}
	if one := &c.Connectors[0]; one.Transport() == BySession || one.Test.ReceiptDelay != 2*time.Second || one.ReceiptIDs != "same" || one.Text.Long != "split8" {
		t.Errorf("%+v", one)
	}
	if text := fmt.Sprint(warnings); !strings.Contains(text, "its messages do not leave") {
		t.Errorf("warnings: %s", text)
	}
	for options, want := range map[string]string{
		`direction: in, address: "127.0.0.1:0"`:         "direction must be out",
		`direction: out, address: "192.0.2.1:2775"`:     "must not have address or listen",
		`direction: out, tls: true`:                     "tls must not be given",
		`direction: out, receipt_delay: 2h`:             "receipt_delay must be",
		`direction: out, url: "http://sms.example.net"`: "is an option of protocol http",
	} {
		if _, _, err := parse(options); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", options, err, want)
		}
	}
}
