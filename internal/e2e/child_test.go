package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/sys/unix"

	"pmg/config"
	"pmg/gateway"
	"pmg/protocols"
	"pmg/protocols/smpp"
)

// The environment variables of a child process.
const (
	childKey  = "PMG_E2E_CHILD"  // set: this process is one
	configKey = "PMG_E2E_CONFIG" // YAML
	filesKey  = "PMG_E2E_FILES"  // its limit of descriptors
)

// A child is a gateway in a process of its own, for tests of a whole process. It runs this
// test's binary, and ends when its standard input ends.
type child struct {
	t    *testing.T
	addr string // of "clients"
	log  *logBuffer
	in   io.WriteCloser
	out  *bufio.Reader
}

// A usage is what a child uses after a garbage collection.
type usage struct {
	Goroutines int
	Memory     uint64 // octets of heap and stacks in use
}

func startChild(t *testing.T, files int, s site) *child {
	t.Helper()
	c := &child{t: t, log: &logBuffer{}}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childKey+"=1", configKey+"="+s.yaml(t.TempDir()), filesKey+"="+strconv.Itoa(files))
	cmd.Stderr = c.log
	var out io.Reader
	var err error
	if c.in, err = cmd.StdinPipe(); err == nil {
		out, err = cmd.StdoutPipe()
	}
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	c.out = bufio.NewReader(out)
	t.Cleanup(func() {
		c.in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("child: %v", err)
		}
		if t.Failed() {
			t.Logf("the end of the child's log:\n%s", c.log.tail(30))
		}
	})
	c.addr = c.line()
	return c
}

func (c *child) line() string {
	c.t.Helper()
	line, err := c.out.ReadString('\n')
	if err != nil {
		c.t.Fatalf("child: %v\n%s", err, c.log)
	}
	return strings.TrimSpace(line)
}

// usage asks the child for its usage.
func (c *child) usage() (u usage) {
	c.t.Helper()
	fmt.Fprintln(c.in)
	if err := json.Unmarshal([]byte(c.line()), &u); err != nil {
		c.t.Fatal(err)
	}
	return u
}

// runChild is the child's main.
func runChild() {
	if err := serveChild(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serveChild() error {
	files, err := strconv.ParseUint(os.Getenv(filesKey), 10, 32)
	if err != nil {
		return err
	}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: files, Max: files}); err != nil {
		return err
	}
	cfg, _, err := config.Parse([]byte(os.Getenv(configKey)), config.Options{})
	if err != nil {
		return err
	}
	g, err := gateway.New(cfg, zerolog.New(os.Stderr).Level(zerolog.WarnLevel), func(string, *config.Config) (protocols.Driver, error) {
		return smpp.New(smpp.Options{}), nil
	})
	if err != nil {
		return err
	}
	defer g.Close()
	e, err := startEngine(g)
	if err != nil {
		return err
	}
	defer e.Close()
	fmt.Println(e.Addresses(g.Table.Connector("clients"))[0])
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		time.Sleep(100 * time.Millisecond) // until work for the last clients has ended
		runtime.GC()
		runtime.GC() // the first one leaves the objects of pools
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		b, err := json.Marshal(usage{Goroutines: runtime.NumGoroutine(), Memory: m.HeapInuse + m.StackInuse})
		if err != nil {
			return err
		}
		fmt.Printf("%s\n", bytes.TrimSpace(b))
	}
	return nil
}
