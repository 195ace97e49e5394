package program

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"pmg/plugin"
)

// A process is one run of the program.
//
// It has three goroutines: run starts it and waits for its end, read reads its answers, and one reads its stderr. An error
// kills the process, once. Nothing is killed after run has waited, because the number may then belong to another process.
type process struct {
	cmd           *exec.Cmd
	in, out, errs *os.File // the gateway's side of the pipes

	asked   atomic.Uint64       // number of the question under way; 0: none
	answers chan plugin.Verdict // answers to the question under way

	once   sync.Once
	why    error         // reason of the kill; set before killed is closed
	at     time.Time     // time of the kill; set before killed is closed
	killed chan struct{} // closed by kill
	ended  chan struct{} // closed when the process and its descendants have ended
	status string        // exit status, set before ended is closed; "": a signal has ended the process
}

func newProcess() *process {
	return &process{answers: make(chan plugin.Verdict, 1), killed: make(chan struct{}), ended: make(chan struct{})}
}

// hasEnded reports whether the process must not be asked any more.
func (p *process) hasEnded() bool {
	select {
	case <-p.killed:
		return true
	default:
		return false
	}
}

// kill ends the process and its descendants, and the reads and writes on its pipes.
func (p *process) kill(why error) {
	p.once.Do(func() {
		p.why, p.at = why, time.Now()
		killEscaped(p.cmd.Process.Pid) // first, because descendants cannot be found after the group has ended
		signalGroup(p.cmd.Process.Pid)
		for _, f := range []*os.File{p.in, p.out, p.errs} {
			_ = f.SetDeadline(time.Unix(1, 0)) // a process that has left the group may still have the other side open
		}
		close(p.killed)
	})
}

// run starts the process, reports that to started, and returns when the process and its descendants have ended. It
// locks its thread, because the kernel kills the process when the thread that started it ends.
func (p *process) run(o *Options, user *syscall.Credential, log *stderrLog, started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := p.start(o, user)
	started <- err
	if err != nil {
		return
	}
	var all sync.WaitGroup
	all.Go(p.read)
	all.Go(func() { log.read(p.errs) })
	<-p.killed
	if _ = p.cmd.Wait(); p.cmd.ProcessState.Exited() {
		p.status = " (" + p.cmd.ProcessState.String() + ")"
	}
	all.Wait()
	for _, f := range []*os.File{p.in, p.out, p.errs} {
		_ = f.Close()
	}
	close(p.ended)
}

// start starts the process with three pipes, PATH and LANG, and no other resources of the gateway.
func (p *process) start(o *Options, user *syscall.Credential) error {
	if len(o.Command) == 0 {
		return errors.New("there is no command")
	}
	p.cmd = exec.Command(o.Command[0], o.Command[1:]...)
	p.cmd.Dir, p.cmd.SysProcAttr = o.Dir, attributes(user)
	p.cmd.Env = []string{variable("PATH", "/usr/local/bin:/usr/bin:/bin"), variable("LANG", "C.UTF-8")}
	var child [3]*os.File
	var errs [3]error
	child[0], p.in, errs[0] = os.Pipe()
	p.out, child[1], errs[1] = os.Pipe()
	p.errs, child[2], errs[2] = os.Pipe()
	err := errors.Join(errs[:]...)
	if err == nil {
		p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = child[0], child[1], child[2]
		keepDescriptors()
		err = p.cmd.Start()
	}
	for _, f := range child {
		_ = f.Close()
	}
	if err != nil {
		for _, f := range []*os.File{p.in, p.out, p.errs} {
			_ = f.Close()
		}
	}
	return err
}

// variable returns a variable of the environment, or otherwise if it is not set.
func variable(name, otherwise string) string {
	if value := os.Getenv(name); value != "" {
		return name + "=" + value
	}
	return name + "=" + otherwise
}

// ask asks question n. After an error the process is killed.
func (p *process) ask(ctx context.Context, n uint64, message []byte) (plugin.Verdict, error) {
	p.asked.Store(n)
	stop := context.AfterFunc(ctx, func() { p.kill(ctx.Err()) })
	if _, err := p.in.Write(fmt.Appendf(nil, `{"n":%d,"message":%s}`+"\n", n, message)); err != nil {
		p.kill(fmt.Errorf("cannot write to it: %w", err))
	}
	select {
	case v := <-p.answers:
		if !stop() {
			p.kill(ctx.Err()) // kill waits until the process is killed
		}
		return v, nil
	case <-ctx.Done():
		return plugin.Verdict{}, ctx.Err()
	case <-p.ended:
		stop()
	}
	select {
	case v := <-p.answers: // the answer came before the end
		return v, nil
	default:
		return plugin.Verdict{}, fmt.Errorf("%w%s", p.why, p.status)
	}
}

// An answer is a line of the program's output.
type answer struct {
	N       uint64          `json:"n"`
	Verdict *plugin.Verdict `json:"verdict"`
}

// read reads answers until there is an error.
func (p *process) read() {
	r := bufio.NewReaderSize(p.out, 64<<10)
	for {
		v, err := p.readAnswer(r)
		if err != nil {
			p.kill(err)
			return
		}
		if r.Buffered() > 0 {
			p.kill(errors.New("it writes more than one line for a question"))
		}
		p.answers <- v
	}
}

func (p *process) readAnswer(r *bufio.Reader) (v plugin.Verdict, err error) {
	line, err := readLine(r)
	if err != nil {
		return v, err
	}
	n := p.asked.Swap(0)
	if n == 0 {
		return v, fmt.Errorf("it writes without a question: %s", plugin.Quote(line))
	}
	var a answer
	switch err = plugin.ReadAnswer(line, &a); {
	case err != nil:
		return v, err
	case a.N != n:
		return v, fmt.Errorf("it answers question %d, not %d", a.N, n)
	case a.Verdict == nil:
		return v, fmt.Errorf("it answers without a verdict: %s", plugin.Quote(line))
	}
	return *a.Verdict, nil
}

// readLine returns a line, which is valid until the next call.
func readLine(r *bufio.Reader) ([]byte, error) {
	var long []byte
	for {
		line, err := r.ReadSlice('\n')
		switch {
		case len(long)+len(line) > plugin.MaxAnswer:
			return nil, fmt.Errorf("it answers more than %d octets in a line", plugin.MaxAnswer)
		case errors.Is(err, bufio.ErrBufferFull):
			long = append(long, line...)
		case errors.Is(err, io.EOF) && len(long)+len(line) > 0:
			return nil, fmt.Errorf("its output ends within a line: %s", plugin.Quote(append(long, line...)))
		case errors.Is(err, io.EOF):
			return nil, errors.New("its output has ended")
		case err != nil:
			return nil, fmt.Errorf("cannot read from it: %w", err)
		case long == nil:
			return line, nil
		default:
			return append(long, line...), nil
		}
	}
}
