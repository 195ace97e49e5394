package plugintest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"pmg/plugin"
)

// speak is the first argument of a test binary that runs as a program.
const speak = "speak"

// Command returns the command of a program, which is this test binary. way selects its behaviour.
func Command(way ...string) []string { return append([]string{os.Args[0], speak}, way...) }

// Speak runs the test binary as the program of Command, if it was started as such. TestMain calls it first.
func Speak() {
	if len(os.Args) > 2 && os.Args[1] == speak {
		run(os.Args[2], os.Args[3:])
		os.Exit(0)
	}
}

type question struct {
	N       uint64         `json:"n"`
	Message plugin.Message `json:"message"`
}

func (q *question) answer(v plugin.Verdict) string {
	b, err := json.Marshal(map[string]any{"n": q.N, "verdict": v})
	if err != nil {
		panic(err)
	}
	return string(b) + "\n"
}

// why answers a question with a text in a verdict.
func (q *question) why(text string) string { return q.answer(plugin.Verdict{Why: text}) }

func run(way string, arguments []string) {
	switch way {
	case "deaf":
		select {}
	case "exits":
		os.Exit(3)
	case "talks":
		fmt.Println("hello")
	case "stderr":
		fmt.Fprintf(os.Stderr, "%s\nbad \xff\n", strings.Repeat("x", 1000))
		for range 100 {
			fmt.Fprintln(os.Stderr, "again")
		}
	}
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var q question
		if err := json.Unmarshal(line, &q); err != nil {
			panic(err)
		}
		_, _ = os.Stdout.WriteString(reply(way, arguments, &q))
		if way == "dies" || way == "once" {
			os.Exit(3)
		}
	}
}

// reply returns what a program writes for a question.
func reply(way string, arguments []string, q *question) string {
	right := q.answer(Decide(&q.Message))
	switch way {
	case "dies": // the program ends after some octets of its answer
		n, _ := strconv.Atoi(arguments[0])
		return right[:min(n, len(right))]
	case "says":
		return strings.ReplaceAll(arguments[0], "N", fmt.Sprint(q.N)) + "\n"
	case "half":
		return right[:len(right)/2]
	case "twice":
		return right + right
	case "late twice": // the second answer comes during the question about another message
		go func() {
			time.Sleep(time.Millisecond)
			_, _ = os.Stdout.WriteString(right)
		}()
	case "endless":
		for piece := strings.Repeat("x", 1<<16); ; {
			if _, err := os.Stdout.WriteString(piece); err != nil {
				os.Exit(1)
			}
		}
	case "sees":
		return q.why(sees())
	case "hangs":
		if q.Message.Text == "hang" {
			select {}
		}
	case "pids":
		if q.Message.Text == "hang" {
			select {}
		}
		return q.why(fmt.Sprint(os.Getpid()))
	case "family", "runaway": // the child has all descriptors of the program; a runaway has left the process group
		child := exec.Command(os.Args[0], speak, "deaf")
		child.Stdin, child.Stdout, child.Stderr = os.Stdin, os.Stdout, os.Stderr
		child.SysProcAttr = &syscall.SysProcAttr{Setsid: way == "runaway"}
		if err := child.Start(); err != nil {
			panic(err)
		}
		return q.why(fmt.Sprint(os.Getpid(), " ", child.Process.Pid))
	}
	return right
}

// sees returns the environment and the descriptors that the program has inherited.
func sees() string {
	environment := os.Environ()
	for i := range environment {
		environment[i], _, _ = strings.Cut(environment[i], "=")
	}
	slices.Sort(environment)
	descriptors := 0
	for fd := range 100 {
		target, err := os.Readlink(fmt.Sprint("/proc/self/fd/", fd))
		ofRuntime := strings.HasPrefix(target, "anon_inode:") || strings.HasPrefix(target, "/sys/")
		if err == nil && !ofRuntime {
			descriptors++
		}
	}
	dir, _ := os.Getwd()
	groups, _ := os.Getgroups()
	return fmt.Sprint(environment, " ", descriptors, " ", dir, " ", os.Getuid(), " ", os.Getgid(), " ", groups)
}
