package system

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"pmg/internal/testkit/natstest"
	"pmg/internal/testkit/testutil"
	"pmg/loadtest"
)

// What operators change at the node that owns the work, accounts by HTTP and lists by a command, is what the next owner has, however
// the work changes hands. A change that was under way at that moment is made or not, as a whole.
func TestClusterManaged(t *testing.T) {
	testutil.Long(t)
	t.Parallel()
	server := natstest.New(t, "n1", "always", "").Start()
	sink, err := loadtest.StartSink(loadtest.SinkOptions{Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	defer sink.Close()
	seed := *clusterSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("-cluster-seed %d", seed)
	m := &managedRig{
		clusterRig: newClusterRig(t, []*natstest.Server{server}, clusterTimes{1500 * time.Millisecond, 2 * time.Second}, sink.Addr()),
		random:     rand.New(rand.NewPCG(seed, 1)), accounts: map[string]string{}, numbers: map[string]bool{},
	}
	for i := range m.nodes {
		m.prepare(&m.nodes[i])
	}
	changes := map[string]*clusterChange{"killed": {}, "stopped": {}, "handed over": {}}
	owner := m.owner(nil)
	for range *clusterRounds {
		p, how := owner.p, m.random.IntN(3)
		var under sync.WaitGroup
		under.Go(func() {
			for m.changeOne(owner) {
			}
		})
		time.Sleep(time.Duration(m.random.IntN(1500)) * time.Millisecond)
		m.change(owner, how, changes)
		under.Wait()
		owner = m.owner(p)
		m.compare(owner)
	}
	t.Logf("%d changes, %d accounts and %d numbers at the end", m.made, len(m.accounts), len(m.numbers))
	if m.made == 0 {
		t.Error("nothing was changed")
	}
	m.wants("3 copies have the same", "check")
}

// A managedRig is a cluster whose accounts and lists are changed. One goroutine at a time uses it.
type managedRig struct {
	*clusterRig
	random   *rand.Rand
	accounts map[string]string // comments of the accounts that there must be
	numbers  map[string]bool   // numbers that a command has changed, and whether they must be on the list
	made     int
	unsure   string // account or number of the change whose answer did not come
}

// prepare gives a node a directory of managed files and a list.
func (m *managedRig) prepare(n *clusterNode) {
	m.t.Helper()
	dir := m.t.TempDir()
	f, err := os.OpenFile(n.file, os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = fmt.Fprintf(f, "managed: {dir: %q}\nlists: [{name: stops, file: %q}]\n", dir+"/managed", dir+"/stops.txt")
	}
	if err == nil {
		err = f.Close()
	}
	if err == nil {
		err = os.WriteFile(dir+"/stops.txt", []byte("# none\n"), 0o600)
	}
	if err == nil {
		err = os.Mkdir(dir+"/managed", 0o700)
	}
	if err != nil {
		m.t.Fatal(err)
	}
}

// admin sends a request to the operators' socket of a node.
func (m *managedRig) admin(n *clusterNode, method, path, body string) (code int, text string) {
	client := &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", filepath.Join(n.store, "admin.sock"))
		}}}
	r, err := http.NewRequest(method, "http://localhost/admin/v1/"+path, strings.NewReader(body))
	if err != nil {
		m.t.Error(err)
		return 0, ""
	}
	answer, err := client.Do(r)
	if err != nil {
		return 0, err.Error()
	}
	defer answer.Body.Close()
	all, err := io.ReadAll(answer.Body)
	if err != nil {
		return 0, err.Error()
	}
	return answer.StatusCode, string(all)
}

// changeOne makes a change. It returns false if the answer does not come.
func (m *managedRig) changeOne(owner *clusterNode) bool {
	if m.random.IntN(3) == 0 {
		number, on := fmt.Sprintf("4670%05d", m.random.IntN(40)), m.random.IntN(2) == 0
		what := map[bool]string{true: "add", false: "remove"}[on]
		m.unsure = number
		if _, err := program(m.t).Run("list", what, "-c", owner.file, "stops", number); err != nil {
			return false
		}
		m.numbers[number] = on
	} else {
		name := fmt.Sprintf("acme%d", m.random.IntN(20))
		m.unsure = name
		if _, known := m.accounts[name]; known && m.random.IntN(3) == 0 {
			if code, _ := m.admin(owner, "DELETE", "accounts/"+name, ""); code != 200 {
				return false
			}
			delete(m.accounts, name)
		} else {
			rate := fmt.Sprint(1 + m.random.IntN(1000))
			if code, _ := m.admin(owner, "PUT", "accounts/"+name, `{"password": "secret", "rate": `+rate+`}`); code/100 != 2 {
				return false
			}
			m.accounts[name] = rate
		}
	}
	m.unsure = ""
	m.made++
	return true
}

// compare compares what the owner has with what must be.
func (m *managedRig) compare(owner *clusterNode) {
	m.t.Helper()
	for i := range 20 {
		name := fmt.Sprintf("acme%d", i)
		code, text := 0, ""
		testutil.Eventually(m.t, "the owner's operators are answered", func() bool {
			code, text = m.admin(owner, "GET", "accounts/"+name, "")
			return code == 200 || code == 404
		})
		rate, there := m.accounts[name]
		if has := code == 200 && strings.Contains(text, `"rate":`+rate); there == has && (there || code == 404) {
			continue
		}
		if name != m.unsure {
			m.t.Errorf("account %s is there: %d, %s; must be: %t, rate %s", name, code, text, there, rate)
		}
		if delete(m.accounts, name); code == 200 {
			_, after, _ := strings.Cut(text, `"rate":`)
			m.accounts[name] = after[:strings.IndexAny(after, ",}")]
		}
	}
	for number, on := range m.numbers {
		_, text := m.admin(owner, "GET", "lists/test?number="+number, "")
		if has := strings.Contains(text, "stops"); has != on {
			if number != m.unsure {
				m.t.Errorf("%s is on the list: %t, %s", number, has, text)
			}
			m.numbers[number] = has
		}
	}
	m.unsure = ""
}
