package system

import (
	"context"
	"fmt"
	"io"
	"maps"
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
	g := newClusterRig(t, []*natstest.Server{server}, clusterTimes{1500 * time.Millisecond, 2 * time.Second}, sink.Addr())
	var dirs []string
	for i := range g.nodes {
		dir, options := managedConfig(t)
		appendConfig(t, g.nodes[i].file, options)
		dirs = append(dirs, dir)
	}
	changes := map[string]*clusterChange{"killed": {}, "stopped": {}, "handed over": {}}
	random := rand.New(rand.NewPCG(seed, 1))
	owner := g.owner(nil)
	m := startOffice(g, seed)
	for range *clusterRounds {
		p := owner.p
		time.Sleep(time.Duration(random.IntN(1500)) * time.Millisecond)
		g.change(owner, random.IntN(3), changes)
		owner = g.owner(p)
	}
	m.end()
	m.compare(t, owner)
	testutil.Eventually(t, "all nodes have the same files", func() bool {
		g.supervise()
		first := managedFiles(t, dirs[0])
		return len(first) > 0 && maps.Equal(first, managedFiles(t, dirs[1])) && maps.Equal(first, managedFiles(t, dirs[2]))
	})
	if out, err := program(t).Run("list", "add", "-c", owner.file, "stops", "+4671"); err != nil || !strings.Contains(out, "1 added") {
		t.Errorf("pmg list add: %v, %s", err, out)
	}
	if code, text := ask(owner.store, "GET", "listed?number=4671", ""); !strings.Contains(text, "stops") {
		t.Errorf("what a command has added: %d, %s", code, text)
	}
	g.wants("3 copies have the same", "check")
}

// managedConfig returns options of a directory of managed files, of a list, and of one of opt-outs.
func managedConfig(t *testing.T) (managed, options string) {
	t.Helper()
	dir := t.TempDir()
	managed = dir + "/managed"
	for _, list := range []string{"stops", "optouts"} {
		if err := os.WriteFile(dir+"/"+list+".txt", []byte("# none\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(managed, 0o700); err != nil {
		t.Fatal(err)
	}
	return managed, fmt.Sprintf("managed: {dir: %q}\nlists: [{name: stops, file: %q}, {name: optouts, file: %q, opt_out_from: [operator]}]\n",
		managed, dir+"/stops.txt", dir+"/optouts.txt")
}

// managedFiles returns the contents of the files of accounts and of the history.
func managedFiles(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, pattern := range []string{"accounts/[a-z]*", "history/[0-9]*"} {
		files, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if data, err := os.ReadFile(file); err == nil { // a file may be removed meanwhile
				all[strings.TrimPrefix(file, dir)] = string(data)
			}
		}
	}
	return all
}

func appendConfig(t *testing.T, file, options string) {
	t.Helper()
	f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteString(options)
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// An office is an operator who changes accounts and a list, at the node that answers.
type office struct {
	stores  []string // directories of the nodes' stores
	random  *rand.Rand
	wanted  map[string]string // what was changed, and what it must be since
	unsure  map[string]bool   // the last change of these has had no answer
	made    int
	at      int // index of the node that has answered last
	stopped context.CancelFunc
	working sync.WaitGroup
}

func startOffice(g *clusterRig, seed uint64) *office {
	o := &office{random: rand.New(rand.NewPCG(seed, 2)), wanted: map[string]string{}, unsure: map[string]bool{}}
	for i := range g.nodes {
		o.stores = append(o.stores, g.nodes[i].store)
	}
	ctx, cancel := context.WithCancel(context.Background())
	o.stopped = cancel
	o.working.Go(func() {
		for ctx.Err() == nil {
			if !o.change() {
				o.at = (o.at + 1) % len(o.stores)
				time.Sleep(20 * time.Millisecond)
			}
		}
	})
	return o
}

// end ends the changes.
func (o *office) end() {
	o.stopped()
	o.working.Wait()
}

// ask sends a request to the operators' socket of a node.
func ask(store, method, path, body string) (code int, text string) {
	client := &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", filepath.Join(store, "admin.sock"))
		}}}
	r, err := http.NewRequest(method, "http://localhost/admin/v1/"+path, strings.NewReader(body))
	if err != nil {
		return 0, err.Error()
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

const (
	gone = "no" // what an account is that was removed, and a number that is not on the list
	on   = "on"
)

// change makes a change. It returns false if no answer comes that it was made.
func (o *office) change() bool {
	what, is := fmt.Sprintf("acme%d", o.random.IntN(20)), gone
	method, path, body := "DELETE", "accounts/"+what, ""
	switch n := o.random.IntN(6); {
	case n < 2:
		what = fmt.Sprintf("4670%05d", o.random.IntN(40))
		method, path = "POST", "lists/remove?list=stops&number="+what
		if n == 0 {
			is, path = on, "lists/add?list=stops&number="+what
		}
	case n < 5:
		is = fmt.Sprint(1 + o.random.IntN(1000))
		method, body = "PUT", `{"password": "secret", "rate": `+is+`}`
	}
	code, _ := ask(o.stores[o.at], method, path, body)
	switch {
	case code/100 == 2, code == 404 && method == "DELETE":
		o.wanted[what], o.unsure[what] = is, false
		o.made++
		return true
	case code == 0: // it may have been made
		o.unsure[what] = true
	}
	return false
}

// compare compares what the owner has with what must be.
func (o *office) compare(t *testing.T, owner *clusterNode) {
	t.Helper()
	for what, want := range o.wanted {
		path := "accounts/" + what
		if what[0] == '4' {
			path = "listed?number=" + what
		}
		code, text := 0, ""
		testutil.Eventually(t, "the owner's operators are answered", func() bool {
			code, text = ask(owner.store, "GET", path, "")
			return code == 200 || code == 404
		})
		has := gone
		switch _, rate, isAccount := strings.Cut(text, `"rate":`); {
		case isAccount && code == 200:
			has = rate[:strings.IndexAny(rate, ",}")]
		case strings.Contains(text, "stops"):
			has = on
		}
		if has != want && !o.unsure[what] {
			t.Errorf("%s is %s, and must be %s (%d, %s)", what, has, want, code, text)
		}
	}
	if o.made == 0 {
		t.Error("nothing was changed")
	}
	t.Logf("%d changes of %d accounts and numbers by operators, all there", o.made, len(o.wanted))
}
