// Package progress shows the progress of a long task: as a bar on a terminal, and otherwise as a line every few seconds.
//
// Start reading with New.
package progress

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// lineInterval is how often progress is written if the output is not a terminal.
const lineInterval = 5 * time.Second

// A Bar shows the progress of a task: as a bar on a terminal, and otherwise as a line
// every few seconds.
type Bar struct {
	w     io.Writer
	bar   *progressbar.ProgressBar // nil if w is not a terminal
	began time.Time
	timed bool      // the bar shows time, not steps
	last  time.Time // time of the last line
}

// New returns a Bar of a task with this number of steps or, if steps is 0, of
// this duration. If both are 0, the bar shows only that the task is running.
func New(w io.Writer, steps int64, duration time.Duration) *Bar {
	p := &Bar{w: w, began: time.Now(), last: time.Now()}
	file, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return p
	}
	most := steps
	if steps == 0 {
		p.timed = duration > 0
		most = duration.Milliseconds()
	}
	if most == 0 {
		most = -1
	}
	p.bar = progressbar.NewOptions64(most,
		progressbar.OptionSetWriter(w), progressbar.OptionSetWidth(30), progressbar.OptionClearOnFinish(),
		progressbar.OptionSetPredictTime(!p.timed), progressbar.OptionThrottle(100*time.Millisecond))
	return p
}

// Show shows that done steps are done, with a text beside it.
func (p *Bar) Show(done int64, text string) {
	switch {
	case p.bar != nil:
		p.bar.Describe(text)
		if p.timed {
			done = time.Since(p.began).Milliseconds()
		}
		if most := p.bar.GetMax64(); most > 0 { // a full bar would disappear
			done = min(done, most-1)
		}
		_ = p.bar.Set64(done)
	case time.Since(p.last) >= lineInterval:
		p.last = time.Now()
		fmt.Fprintf(p.w, "%4.0f s  %s\n", time.Since(p.began).Seconds(), text)
	}
}

// End removes the bar, so that other output can follow.
func (p *Bar) End() {
	if p.bar != nil {
		_ = p.bar.Clear()
	}
}
