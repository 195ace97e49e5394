package arch

import (
	"fmt"
	"go/doc"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pmg/internal/testkit/testutil"
)

// A row lists the packages of this program that a package may import outside its tests.
type row struct{ pkg, may string }

// table returns the architecture from the ground up: a package imports only packages of
// earlier rows. Packages that only tests use have no row.
func table() []row {
	return []row{
		// The ground: these do not import each other, and stages/flow contains nothing about SMS.
		{"sms", ""},
		{"sms/plan", ""},
		{"sms/number", "sms sms/plan"},
		{"stages/flow", ""},
		{"internal/ratelimit", ""},
		{"internal/poll", ""},
		{"internal/sock", ""},
		{"internal/logtext", ""},
		{"internal/testkit/lossfs", ""},
		{"internal/wholefile", ""},
		{"internal/logfile", "internal/wholefile"},
		{"internal/machine", ""},
		{"internal/daemon", ""},
		{"internal/timetext", ""},
		{"internal/keyfile", ""},
		{"internal/testkit/apicheck", ""},
		{"internal/tlsfiles", ""},
		{"internal/passhash", ""},
		{"internal/token", ""},
		{"internal/turns", ""},
		{"internal/quiet", "internal/timetext sms/number"},
		{"internal/window", ""},
		{"internal/sortedset", ""},
		{"internal/textfile", ""},
		{"internal/handshakes", "internal/turns"},
		{"internal/proxyheader", ""},
		{"internal/console", ""},
		{"internal/capture", ""},
		{"internal/testkit/testutil", "internal/capture"},
		{"internal/testkit/documents", ""},
		{"internal/testkit/smpppeer", ""},
		{"internal/testkit/templates", ""},
		{"internal/testkit/traces", ""},
		{"internal/testkit/smtptest", ""},
		{"internal/testkit/issuer", ""},
		{"internal/testkit/natstest", "internal/testkit/testutil"},
		{"internal/testkit/chrome", ""},
		{"internal/nearest", ""},
		{"internal/figuretext", ""},
		{"internal/texts", "internal/figuretext internal/nearest"},
		{"internal/browser", "internal/figuretext internal/texts internal/token"},
		{"internal/httpfault", ""},
		{"sms/charset", ""},
		{"sms/userdata", "sms sms/charset"},
		{"sms/peerid", ""},
		{"internal/sheet", "internal/textfile sms"},
		{"sms/numbers", "internal/sheet internal/sortedset internal/textfile internal/wholefile sms sms/number"},
		{"sms/prices", "internal/sheet internal/textfile sms sms/number"},
		{"sms/networks", "internal/sheet internal/sortedset internal/textfile sms sms/number"},
		{"internal/smstext", "sms sms/charset sms/userdata"},
		{"sms/fit", "internal/smstext sms sms/charset sms/userdata"},
		{"store/journal", ""},
		{"store/journal/file", "store/journal"},
		{"store/seal", ""},
		{"store/journal/nats", "store/journal store/seal"},
		{"store/journal/journaltest", "store/journal"},
		{"store/journal/shared", "store/journal"},
		{"store/ballast", ""},
		{"store/notes", "store/journal"},
		{"store", "sms store/ballast store/journal store/journal/file store/notes store/seal"},
		{"store/files", "store"},
		{"cluster/lease", ""},
		{"cluster/lease/leasetest", "cluster/lease internal/testkit/testutil"},
		{"cluster/cells", "cluster/lease store/journal/nats"},
		{"cluster/report", ""},
		{"cluster", "cluster/cells cluster/lease cluster/report store store/journal store/journal/nats store/journal/shared"},
		{"sms/rewrite", "sms"},

		// A driver is pure, and does not import another protocol.
		{"protocols", "sms sms/userdata"},
		{"protocols/prototest", "internal/testkit/testutil protocols sms"},
		{"protocols/prototest/toy", "protocols sms"},
		{"protocols/smpp", "internal/logtext protocols sms sms/charset sms/userdata"},
		{"protocols/ucp", "internal/logtext internal/smstext protocols sms sms/charset"},
		{"cluster/standby", "internal/sock protocols/smpp protocols/ucp"},
		{"protocols/http1", ""},
		{"protocols/testsms", "internal/logtext protocols sms"},
		{"protocols/httpsms", "internal/logtext internal/smstext internal/texts protocols protocols/http1 sms sms/number sms/userdata"},
		{"protocols/httpsms/smsc", "internal/smstext internal/token protocols protocols/httpsms sms sms/charset sms/userdata"},
		{"protocols/httpsms/own", "internal/smstext protocols/httpsms sms sms/charset sms/number sms/userdata"},
		{"protocols/httpsms/jasmin", "internal/smstext internal/token protocols/httpsms sms sms/charset sms/userdata"},
		{"protocols/httpsms/kannel", "internal/smstext protocols/httpsms sms sms/charset sms/userdata"},

		// Decisions that need no session.
		{"internal/httpcall", "protocols/httpsms sms"},
		{"internal/oidc", "internal/httpcall internal/turns"},
		{"events/telemetry", "internal/httpcall protocols/httpsms"},
		{"httpapi/conns", ""},
		{"plugin", "internal/turns sms"},
		{"plugin/expression", "internal/timetext plugin"},
		{"plugin/service", "internal/httpcall plugin protocols/httpsms"},
		{"plugin/program", "plugin"},
		{"plugin/plugintest", "plugin"},
		{"plugin/answers", "sms"},
		{"plugin/enum", "plugin sms"},
		{"config/managed", "internal/wholefile"},
		{"config/document", ""},
		{"config/option", "internal/timetext"},
		{"config", "cluster/lease config/document config/managed config/option internal/httpcall internal/keyfile internal/machine internal/nearest internal/passhash internal/quiet internal/sheet internal/smstext internal/texts internal/timetext internal/tlsfiles internal/token plugin plugin/expression protocols protocols/httpsms protocols/httpsms/smsc protocols/smpp protocols/testsms protocols/ucp sms sms/charset sms/fit sms/networks sms/prices sms/rewrite"},
		{"config/managed/editor", "config config/document config/managed internal/passhash internal/token sms/numbers sms/prices"},
		{"connector/account", "config internal/passhash internal/ratelimit internal/tlsfiles internal/token internal/window protocols sms sms/number"},
		{"pdulog", "internal/logfile internal/logtext internal/smstext protocols sms sms/charset sms/number"},
		{"events", "internal/logfile internal/wholefile pdulog sms"},
		{"events/stats", "events internal/figuretext internal/wholefile sms"},
		{"events/statement", "events internal/figuretext internal/timetext sms"},
		{"gateway/privacy", "config events internal/logfile internal/wholefile pdulog sms sms/charset sms/number sms/plan store"},

		// Sessions, and the gateway's decisions about them.
		{"connector/autowindow", ""},
		{"connector/queue", "sms"},
		{"connector/streams", ""},
		{"connector", "config connector/account connector/autowindow connector/queue connector/streams internal/ratelimit internal/tlsfiles pdulog protocols sms sms/fit"},
		{"connector/worker", "connector sms"},
		{"gateway/node", "config connector internal/turns sms"},
		{"gateway/mail", "config gateway/node internal/token"},
		{"gateway/hooks", "config internal/smstext plugin plugin/answers plugin/enum plugin/program plugin/service sms sms/number sms/rewrite"},
		{"gateway/login", "config connector connector/account gateway/hooks gateway/node internal/tlsfiles internal/turns plugin protocols sms"},
		{"gateway/networks", "config gateway/node sms sms/networks sms/number"},
		{"gateway/keep", "config connector events gateway/node internal/wholefile protocols sms store"},
		{"gateway/lists", "config gateway/keep gateway/node internal/smstext sms sms/number sms/numbers store"},
		{"gateway/credit", "config gateway/keep gateway/node sms sms/number sms/prices store"},
		{"gateway/route", "config connector gateway/keep gateway/login gateway/node internal/smstext protocols sms sms/fit sms/number sms/prices sms/userdata store"},
		{"gateway/roomtest", "config connector connector/account gateway/hooks gateway/keep gateway/login gateway/node gateway/route protocols protocols/prototest/toy sms store"},
		{"gateway/convert", "config connector gateway/node gateway/route protocols sms sms/fit sms/rewrite sms/userdata"},
		{"gateway/inbox", "config connector gateway/keep gateway/node internal/smstext sms sms/number sms/rewrite sms/userdata store"},
		{"gateway/receipts", "config connector events gateway/convert gateway/credit gateway/hooks gateway/keep gateway/node gateway/route internal/window plugin protocols sms sms/peerid store"},
		{"gateway/deadletters", "events gateway/keep gateway/node sms store"},
		{"gateway/settle", "config connector events events/stats events/telemetry gateway/convert gateway/credit gateway/deadletters gateway/hooks gateway/keep gateway/node gateway/receipts gateway/route internal/logfile internal/ratelimit plugin protocols sms sms/fit store"},
		{"gateway/intake", "config connector events gateway/convert gateway/credit gateway/hooks gateway/keep gateway/lists gateway/networks gateway/node gateway/receipts gateway/route gateway/settle internal/smstext plugin plugin/answers protocols sms sms/fit sms/number sms/plan sms/userdata store"},
		{"gateway/leave", "connector gateway/convert gateway/hooks gateway/keep gateway/node gateway/route plugin sms store"},
		{"gateway/accept", "config connector gateway/intake gateway/keep gateway/receipts sms store"},
		{"gateway/request", "connector gateway/accept gateway/intake gateway/keep gateway/node gateway/receipts gateway/route sms store"},
		{"gateway/operate", "config connector connector/account connector/queue events gateway/intake gateway/keep gateway/node gateway/receipts gateway/route gateway/settle internal/smstext protocols sms sms/number store"},
		{"pdulog/story", "events gateway/operate internal/logfile pdulog protocols/httpsms sms sms/number"},
		{"gateway/webhooks", "connector gateway/node"},
		{"gateway/session", "config connector gateway/accept gateway/convert gateway/intake gateway/keep gateway/login gateway/node gateway/operate gateway/receipts gateway/route protocols sms"},
		{"gateway", "config connector connector/account connector/queue gateway/convert gateway/credit gateway/hooks gateway/inbox gateway/intake gateway/keep gateway/leave gateway/lists gateway/login gateway/networks gateway/node gateway/operate gateway/privacy gateway/receipts gateway/request gateway/route gateway/session gateway/settle gateway/webhooks internal/logfile internal/nearest internal/tlsfiles pdulog protocols sms sms/networks stages/flow store"},

		// The architecture. It imports no protocol.
		{"stages/cipher", ""},
		{"stages", "config connector gateway gateway/keep gateway/session internal/poll internal/proxyheader internal/sock internal/tlsfiles internal/turns pdulog protocols sms stages/cipher stages/flow store"},
		{"httpapi/body", "connector"},
		{"sandbox", "connector connector/worker gateway gateway/convert gateway/receipts gateway/request internal/smstext pdulog protocols/testsms sms sms/rewrite"},
		{"sandbox/phone", "internal/browser sandbox sms/number"},
		{"httpapi/apitest", "config connector gateway internal/testkit/testutil protocols protocols/httpsms protocols/prototest/toy sms store"},
		{"httpapi/server", "config connector connector/account connector/streams gateway/login gateway/node httpapi/body httpapi/conns internal/handshakes internal/httpfault internal/proxyheader internal/sock internal/tlsfiles pdulog protocols protocols/httpsms sms"},
		{"httpapi/webhook", "config connector connector/account connector/worker gateway/mail gateway/node gateway/request gateway/settle gateway/webhooks httpapi/server internal/httpcall pdulog protocols/httpsms protocols/httpsms/jasmin protocols/httpsms/kannel protocols/httpsms/own sms"},
		{"httpapi/httpsmsc", "config connector connector/worker gateway/convert gateway/node gateway/receipts gateway/request httpapi/body httpapi/server internal/httpcall pdulog protocols/httpsms protocols/httpsms/smsc sms"},
		{"httpapi/reference", "internal/browser protocols/httpsms/own"},
		{"httpapi/v1", "config connector connector/account connector/streams connector/worker gateway/node gateway/operate gateway/request httpapi/body httpapi/reference httpapi/server httpapi/webhook internal/browser internal/httpcall internal/tlsfiles internal/token protocols protocols/httpsms protocols/httpsms/own sms"},
		{"httpapi/compat", "config connector gateway/node gateway/request httpapi/body httpapi/server httpapi/webhook internal/httpcall protocols/httpsms protocols/httpsms/jasmin protocols/httpsms/kannel sms"},
		{"httpapi/portal", "config config/managed config/managed/editor connector connector/account events/stats gateway/credit gateway/inbox gateway/mail gateway/node gateway/operate gateway/request gateway/webhooks httpapi/server internal/browser internal/httpcall internal/oidc internal/sheet internal/texts internal/timetext internal/token internal/turns protocols/httpsms protocols/httpsms/own sms sms/number sms/numbers sms/prices store"},
		{"httpapi", "config connector gateway gateway/mail httpapi/body httpapi/compat httpapi/httpsmsc httpapi/portal httpapi/server httpapi/v1 httpapi/webhook internal/httpfault internal/sock protocols/httpsms sandbox"},
		{"admin/access", "config connector/account gateway/node internal/browser internal/passhash internal/token internal/turns"},
		{"admin/history", "connector"},
		{"admin/problems", "internal/figuretext sms"},
		{"admin", "admin/access admin/history admin/problems cluster/report config connector connector/streams events/statement events/stats gateway gateway/credit gateway/hooks gateway/lists gateway/mail gateway/operate gateway/privacy gateway/receipts gateway/request gateway/webhooks internal/figuretext internal/handshakes internal/httpfault internal/logfile internal/smstext internal/sock internal/timetext internal/tlsfiles internal/turns pdulog pdulog/story plugin protocols sms sms/number sms/numbers sms/rewrite stages/flow store"},
		{"admin/manage", "admin admin/access config config/document config/managed config/managed/editor"},
		{"admin/web/form", "config config/document config/managed config/managed/editor protocols"},
		{"admin/web", "admin admin/access admin/history admin/manage admin/web/form cluster/report config config/document config/managed config/managed/editor connector events/statement events/stats gateway/operate gateway/privacy gateway/webhooks internal/browser internal/figuretext internal/httpfault internal/oidc internal/sheet internal/textfile pdulog protocols sms sms/prices"},

		// Wiring: the only place of the product that makes drivers.
		{"docs", ""},
		{"packaging", ""},
		{"cmd/pmg/explain", "config connector gateway gateway/intake gateway/leave gateway/route internal/smstext protocols protocols/httpsms sms sms/charset sms/fit sms/number sms/rewrite sms/userdata"},
		{"cmd/pmg/customers", "admin config events events/stats events/statement gateway/credit internal/console internal/figuretext internal/passhash internal/textfile internal/token sms sms/networks sms/number sms/prices sms/rewrite"},
		{"cmd/pmg/ask", "config internal/console internal/httpcall internal/tlsfiles protocols/httpsms"},
		{"cmd/pmg/help", "internal/nearest"},
		{"cmd/pmg/check", "admin cmd/pmg/ask config gateway/hooks internal/console internal/figuretext internal/nearest internal/sheet internal/textfile plugin sms sms/networks sms/number sms/numbers"},
		{"cmd/pmg/history", "admin cmd/pmg/ask config config/document config/managed config/managed/editor internal/console"},
		{"cmd/pmg/whatif", "cmd/pmg/ask config connector events events/statement events/stats gateway gateway/intake internal/console internal/figuretext protocols sms sms/rewrite"},
		{"cmd/pmg/files", "admin cmd/pmg/ask config events events/stats gateway/credit gateway/operate gateway/privacy internal/console pdulog protocols sms store"},
		{"cmd/pmg/dev", "internal/console sandbox sandbox/phone sms"},
		{"cmd/pmg/webhooks", "admin gateway/operate gateway/webhooks internal/timetext sms"},
		{"cmd/pmg/migrate/draft", "config/document"},
		{"cmd/pmg/migrate/kannel", "cmd/pmg/migrate/draft"},
		{"cmd/pmg/migrate/jasmin", "cmd/pmg/migrate/draft"},
		{"cmd/pmg/migrate", "cmd/pmg/migrate/draft cmd/pmg/migrate/jasmin cmd/pmg/migrate/kannel config internal/token"},
		{"cmd/pmg/dialogue", "internal/tlsfiles protocols sms"},
		{"cmd/pmg/probe", "cmd/pmg/dialogue internal/console internal/tlsfiles protocols protocols/smpp sms sms/rewrite"},
		{"cmd/pmg/replay", "cmd/pmg/dialogue pdulog protocols"},
		{"cmd/pmg/member", "admin cluster cluster/report cluster/standby cmd/pmg/ask config config/managed gateway/keep internal/console internal/daemon internal/sock internal/tlsfiles internal/token protocols store store/files"},
		{"cmd/pmg", "admin admin/access admin/manage admin/web cmd/pmg/ask cmd/pmg/check cmd/pmg/customers cmd/pmg/dev cmd/pmg/dialogue cmd/pmg/explain cmd/pmg/files cmd/pmg/help cmd/pmg/history cmd/pmg/member cmd/pmg/migrate cmd/pmg/probe cmd/pmg/replay cmd/pmg/webhooks cmd/pmg/whatif config config/managed config/managed/editor connector docs gateway gateway/intake gateway/keep gateway/mail gateway/operate gateway/settle httpapi internal/capture internal/console internal/daemon internal/figuretext internal/logtext internal/nearest internal/smstext internal/sock internal/texts internal/timetext internal/tlsfiles internal/token packaging pdulog pdulog/story protocols protocols/httpsms protocols/httpsms/jasmin protocols/httpsms/kannel protocols/smpp protocols/testsms protocols/ucp sandbox sms stages store"},

		{"internal/testkit/process", "admin internal/testkit/testutil"},

		// Whole gateways under test, which say what functions messages take.
		{"internal/testkit/walks", "config gateway httpapi internal/testkit/smpppeer protocols protocols/httpsms protocols/smpp stages store"},

		// Small faults for the tests to notice.
		{"internal/testkit/mutate", ""},

		// The module that tests and measures gateways, which run as processes of their own. Load shares the codec with the gateway and
		// nothing else.
		{"loadtest", "internal/sock protocols protocols/smpp"},
		{"loadtest/child", ""},
		{"loadtest/progress", ""},
		{"loadtest/httpsink", "loadtest"},
		{"loadtest/httpload", "loadtest loadtest/httpsink"},
		{"loadtest/cmd/pmgload", "cmd/pmg/help internal/console internal/figuretext loadtest loadtest/child loadtest/httpload loadtest/httpsink loadtest/progress pdulog protocols protocols/smpp protocols/ucp"},
		{"loadtest/bench", "loadtest loadtest/child loadtest/httpload"},
		{"loadtest/bench/cmd/pmgbench", "internal/console loadtest loadtest/bench loadtest/progress"},
	}
}

func TestImports(t *testing.T) {
	above := map[string]bool{}
	rows := map[string]row{}
	for _, r := range table() {
		for _, to := range strings.Fields(r.may) {
			if !above[to] {
				t.Errorf("the table lets %s import %s, which has no earlier row", r.pkg, to)
			}
		}
		above[r.pkg] = true
		rows[r.pkg] = r
	}
	for pkg, files := range packages(sources(t)) {
		imports := importsOf(files)
		r, known := rows[pkg]
		if !known {
			if !onlyTests(files) {
				t.Errorf("package %s has no row in the table", pkg)
			}
			continue
		}
		may := strings.Fields(r.may)
		for _, to := range imports {
			if !slices.Contains(may, to) {
				t.Errorf("%s may not import %s", pkg, to)
			}
		}
		for _, to := range may {
			if !slices.Contains(imports, to) {
				t.Errorf("the table lets %s import %s, which it does not", pkg, to)
			}
		}
		delete(rows, pkg)
	}
	for pkg := range rows {
		t.Errorf("the table has a row for %s, which does not exist", pkg)
	}
}

// ARCHITECTURE.md lists the packages, without those below others, in the order of the table, with the beginnings of their comments.
func TestPackagesAreFresh(t *testing.T) {
	file := filepath.Join(root, "ARCHITECTURE.md")
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	all, list := packages(sources(t)), ""
	for _, r := range table() {
		if strings.Contains(r.pkg, "/") && r.pkg != "cmd/pmg" && r.pkg != "loadtest/bench" {
			continue
		}
		does := packageDoes(all[r.pkg])
		if does == "" {
			t.Errorf("the comment of package %s does not begin with its name", r.pkg)
		}
		list += fmt.Sprintf("%-14s %s\n", r.pkg, does)
	}
	const begin, end = "<!-- made by: make docs -->\n", "<!-- end -->"
	before, rest, found := strings.Cut(string(b), begin)
	_, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatalf("%s has no block after %q", file, begin)
	}
	testutil.Fresh(t, file, before+begin+"```\n"+list+"```\n"+end+after, "make docs")
}

// packageDoes returns the first sentence of a package's comment, without its name and without what stands behind a colon.
func packageDoes(files []source) string {
	for _, s := range files {
		first := strings.Join(strings.Fields((&doc.Package{}).Synopsis(s.file.Doc.Text())), " ")
		for _, begin := range []string{"Package " + filepath.Base(s.pkg) + " ", "Command " + filepath.Base(s.pkg) + " "} {
			if does, ok := strings.CutPrefix(first, begin); ok && !s.test() {
				does, _, _ = strings.Cut(does, ":")
				return strings.TrimSuffix(does, ".")
			}
		}
	}
	return ""
}

// importsOf returns the packages of this module that a package imports outside its tests.
func importsOf(files []source) []string {
	var all []string
	for _, s := range files {
		if s.test() {
			continue
		}
		for _, spec := range s.file.Imports {
			path, _ := strconv.Unquote(spec.Path.Value)
			if to, ours := strings.CutPrefix(path, "pmg/"); ours && !slices.Contains(all, to) {
				all = append(all, to)
			}
		}
	}
	return all
}

// onlyTests reports whether a package has nothing but tests and a package comment.
func onlyTests(files []source) bool {
	for _, s := range files {
		if !s.test() && len(s.file.Decls) > 0 {
			return false
		}
	}
	return true
}
