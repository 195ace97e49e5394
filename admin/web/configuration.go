package web

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"slices"
	"time"

	"pmg/admin/access"
	"pmg/internal/figuretext"
)

// Limits of the part of the audit log that is shown.
const (
	mostAudited     = 50
	mostAuditOctets = 256 << 10 // octets at the end of the file that are read
)

// A configurationPage is the model of the page about the configuration: the changes that a reload would make, the expiry of
// certificates and passwords, and the last actions of operators.
type configurationPage struct {
	MayCompare      bool
	Compared        bool
	Pending, Failed string
	Certificates    []certificateRow
	Audit           []auditRow
	AuditFile       string // "": the audit log is in the gateway's own log
	MayAudit        bool
}

// A certificateRow is the expiry of a certificate or a key.
type certificateRow struct {
	Of      string
	Expires time.Time
	Left    string
}

// An auditRow is a line of the audit log.
type auditRow struct {
	Time       time.Time           `json:"time"`
	Who        string              `json:"who"`
	Act        string              `json:"act"`
	Parameters map[string][]string `json:"parameters"`
	Result     string              `json:"result"`
}

// Of returns the name of the object of the action.
func (a *auditRow) Of() string {
	for _, name := range []string{"connector", "account", "session", "id", "q"} {
		if v := a.Parameters[name]; len(v) > 0 && v[0] != "" {
			return v[0]
		}
	}
	return ""
}

// configuration shows what a reload would change, certificates and keys with their times, and the last lines of the audit log.
func (ro *routes) configuration(r *http.Request) any {
	cfg, operates := ro.server.Gateway().Node.Config(), access.CallerOf(r).Scope >= access.Operate
	p := &configurationPage{MayCompare: ro.Pending != nil && operates, MayAudit: operates, AuditFile: cfg.Admin.Audit}
	p.Certificates = ro.certificates()
	if operates && p.AuditFile != "" {
		p.Audit = lastAudited(p.AuditFile)
	}
	if p.MayCompare && r.URL.Query().Get("pending") != "" {
		var err error
		p.Compared = true
		if p.Pending, err = ro.Pending(r.Context()); err != nil {
			p.Failed = err.Error()
		}
	}
	return p
}

// IsStill reports that only actions change the page.
func (*configurationPage) IsStill() bool { return true }

// certificates returns the certificates in use, those that expire first in front.
func (ro *routes) certificates() (rows []certificateRow) {
	status, cfg := ro.server.Status(false), ro.server.Gateway().Node.Config()
	add := func(of string, at time.Time) {
		rows = append(rows, certificateRow{of, at, figuretext.Age(at.Sub(status.Time).Seconds())})
	}
	if at := status.AdminCertificateExpires; at != nil {
		add("certificate of admin.tls", *at)
	}
	for i := range status.Connectors {
		if at := status.Connectors[i].CertificateExpires; at != nil {
			add("certificate of connector "+status.Connectors[i].Name, *at)
		}
	}
	for i := range cfg.Accounts {
		for k := range cfg.Accounts[i].Logins.Keys {
			if at := cfg.Accounts[i].Logins.Keys[k].ExpiresAt(); !at.IsZero() {
				add("key "+cfg.Accounts[i].Logins.Keys[k].Name+" of account "+cfg.Accounts[i].SystemID, at)
			}
		}
	}
	slices.SortStableFunc(rows, func(a, b certificateRow) int { return a.Expires.Compare(b.Expires) })
	return rows[:min(len(rows), most)]
}

// lastAudited returns the last lines of an audit log, the latest first. It omits unreadable lines.
func lastAudited(path string) (rows []auditRow) {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() > mostAuditOctets {
		_, _ = f.Seek(-mostAuditOctets, io.SeekEnd)
	}
	b, err := io.ReadAll(io.LimitReader(f, mostAuditOctets))
	if err != nil {
		return nil
	}
	lines := bytes.Split(bytes.TrimSpace(b), []byte("\n"))
	for _, line := range slices.Backward(lines) {
		var row auditRow
		if json.Unmarshal(line, &row) == nil && len(rows) < mostAudited {
			rows = append(rows, row)
		}
	}
	return rows
}
