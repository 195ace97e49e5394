package system

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"pmg/events/statement"
	"pmg/internal/testkit/process"
	"pmg/internal/testkit/testutil"
	"pmg/sms"
)

const killStatementsConfig = `
log: {format: json}
pdulog: {enabled: false}
admin: {address: "127.0.0.1:0", socket: %[1]q}
store: {dir: %[2]q, ballast: 0B}
events: {dir: %[3]q, rotate_every: 0s}
networks: {file: %[4]q}
prices: [{name: p0, currency: EUR, file: %[5]s/p0.csv}, {name: p1, currency: SEK, file: %[5]s/p1.csv}, {name: p2, currency: EUR, file: %[5]s/p2.csv}]
accounts:
%[6]sconnectors:
  - {name: clients, direction: in, address: %[7]q, window: 100}
  - {name: operator, direction: out, address: %[8]q, instances: 2, window: 10, max_queue: 500, queue_wait: 60s, long_messages: split8,
     system_id: pmg, password: secret, reconnect_delay: 20ms, retry: []}
routes: [{to: operator}]
`

// statementAccounts is how many accounts TestKillStatements has.
const statementAccounts = 20

// statementPrices are the prices of a list at a time, which change over a run. Numbers of the load begin with 4670.
func statementPrices(list, change int) string {
	unit := sms.Money(10_000 + 1_000*list + 7*change)
	return fmt.Sprintf("for,price\n*,%s\n24001,%s\n24002,%s\n", unit, unit+1, 3*unit)
}

// Twenty accounts of three lists, prepaid and postpaid, charged for what is delivered or accepted, whose prices change while the gateway is
// killed and reloads: each statement is what the events and the payments say, line by line, and its end is the balance.
func TestKillStatements(t *testing.T) {
	testutil.Long(t)
	t.Parallel()
	sink := startChargedSink(t)
	dir, tables := process.NewStoreDir(t), t.TempDir()
	write := func(name, text string) {
		t.Helper()
		fresh := filepath.Join(tables, name+".new")
		if err := os.WriteFile(fresh, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(fresh, filepath.Join(tables, name)); err != nil {
			t.Fatal(err)
		}
	}
	for list := range 3 {
		write(fmt.Sprintf("p%d.csv", list), statementPrices(list, 0))
	}
	networks := "prefix,network,name\n46,240,Sweden\n"
	for digit := range 10 { // of the numbers of the load, which go on from 46700000000
		networks += fmt.Sprintf("467000000%d,2400%d,Net %d\n", digit, digit%3, digit%3)
	}
	write("networks.csv", strings.ReplaceAll(networks, ",24000,Net 0", ",240,Sweden"))
	socket := shortSocket(t)
	var names []string
	accounts := ""
	for i := range statementAccounts {
		names = append(names, fmt.Sprintf("a%d", i))
		balance := [...]string{
			`mode: prepaid, charge: delivered`, `mode: postpaid, limit: "1000000"`, `mode: prepaid`, `mode: postpaid, limit: "1000000", charge: delivered`,
		}[i%4]
		accounts += fmt.Sprintf("  - {system_id: a%d, password: secret, prices: p%d, balance: {%s}}\n", i, i%3, balance)
	}
	file := process.WriteConfig(t, fmt.Sprintf(
		killStatementsConfig, socket, dir, dir+"-events", filepath.Join(tables, "networks.csv"), tables, accounts, testutil.FreeAddress(t), sink.Addr(),
	))
	loads := startThrottledOf(names, 20)
	pays := startPayer(t, socket, names...)
	serve := func() *process.Process {
		p := program(t).Serve(t, file)
		e := p.Wait("listening")
		loads.to.Store(&e.Address)
		return p
	}
	changes := 0
	change := func(p *process.Process) {
		changes++
		for list := range 3 {
			write(fmt.Sprintf("p%d.csv", list), statementPrices(list, changes))
		}
		if err := p.Cmd.Process.Signal(syscall.SIGHUP); err != nil {
			t.Error(err)
		}
	}
	for range *moneyKills {
		p := serve()
		time.Sleep(time.Duration(rand.IntN(700)) * time.Millisecond)
		change(p)
		time.Sleep(time.Duration(rand.IntN(700)) * time.Millisecond)
		p.Kill()
		for _, line := range p.Problems() {
			t.Error(line)
		}
	}
	p := serve()
	testutil.Eventually(t, "messages are sent", func() bool { return p.Status().Sent > 100 })
	change(p)
	testutil.Eventually(t, "more are sent", func() bool { return p.Status().Sent > 1000 })
	loads.stop(t)
	paid := pays.stop()
	p.Settle()
	for _, name := range names {
		wantsNothingReserved(t, p, name)
	}
	sink.Close() // which may send more receipts
	if status := p.Stop(); status != 0 {
		t.Errorf("exit status %d", status)
	}
	bills := billsIn(t, dir+"-events")
	p = serve()
	lines := 0
	for i, name := range names {
		b := bills[name]
		if b == nil || b.charged == 0 || (i%4 == 0 || i%4 == 3) != (b.back > 0) {
			t.Fatalf("%s: no traffic, or no refunds: %+v", name, b)
		}
		lines += len(b.lines)
		wantsBill(t, p, name, b, paid[name])
	}
	t.Logf("%d kills, %d changes of prices, %d accounts, %d lines of statements", *moneyKills, changes, len(names), lines)
}

// wantsBill compares the statement and the balance of an account with what its events and payments say.
func wantsBill(t *testing.T, p *process.Process, account string, b *bill, paid sms.Money) {
	t.Helper()
	end := wantsNothingReserved(t, p, account)
	var s statement.Statement
	p.Ask("statement?account="+account, &s)
	if balance := amountOf(t, end.Balance); balance != paid-b.charged+b.back || s.Closing != balance || s.Opening != 0 ||
		s.Charged != b.charged || s.Refunded != b.back || s.Paid != paid {
		t.Errorf("%s: paid %s, charged %s, back %s, balance %s, statement %+v", account, paid, b.charged, b.back, end.Balance, s)
	}
	for i := range s.Lines {
		l := &s.Lines[i]
		network := l.Network
		if network == "" {
			network = l.Country
		}
		of := fmt.Sprintf("%s %s", network, l.Price)
		if want := (billLine{l.Messages, l.Shorts, l.Sum}); b.lines[of] != want {
			t.Errorf("%s, %s: %+v in the statement, %+v by the events", account, of, want, b.lines[of])
		}
		delete(b.lines, of)
	}
	if len(b.lines) > 0 {
		t.Errorf("%s: not in the statement: %v", account, b.lines)
	}
}
