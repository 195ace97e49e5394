// Package chrome runs a real browser for tests of pages.
//
// # Start reading
//
// chrome.go (Start, Do, Silent).
package chrome

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// program is Debian's browser without a screen.
const program = "chromium-headless-shell"

// patience is the time limit of a test with a browser.
const patience = 5 * time.Minute

// A Browser is a browser that runs until the end of a test.
type Browser struct {
	t    testing.TB
	ctx  context.Context
	last context.Context // without the time limit, for what is asked after the end

	mu         sync.Mutex
	complaints []string // errors of scripts, and violations of the pages' policies
}

// Start starts a browser, which confirms every dialog of a page. The test is skipped if no browser is installed.
func Start(t testing.TB) *Browser {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		t.Skip(program + " is not installed: apt-get install " + program)
	}
	var started *exec.Cmd
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox,
		chromedp.ModifyCmdFunc(func(cmd *exec.Cmd) {
			started, cmd.SysProcAttr = cmd, &syscall.SysProcAttr{Setpgid: true}
		}))
	ctx, stop := chromedp.NewExecAllocator(context.Background(), options...) // the test's own context would end too early
	ctx, _ = chromedp.NewContext(ctx)
	t.Cleanup(func() {
		_ = chromedp.Cancel(ctx)
		stop()
		if started != nil && started.Process != nil { // children of the browser outlive it if it is killed
			_ = syscall.Kill(-started.Process.Pid, syscall.SIGKILL)
		}
	})
	last := ctx
	if err := chromedp.Run(last); err != nil { // the browser ends with the context of the first actions
		t.Fatal(err)
	}
	ctx, stopTest := context.WithTimeout(ctx, patience)
	t.Cleanup(stopTest)
	b := &Browser{t: t, ctx: ctx, last: last}
	chromedp.ListenTarget(ctx, func(event any) {
		switch e := event.(type) {
		case *log.EventEntryAdded:
			// messages of other levels are harmless
			if e.Entry.Level == log.LevelError || e.Entry.Level == log.LevelWarning {
				b.says(e.Entry.Text)
			}
		case *runtime.EventExceptionThrown:
			b.says(e.ExceptionDetails.Error())
		case *runtime.EventConsoleAPICalled:
			b.says(fmt.Sprint(e.Type, e.Args))
		case *page.EventJavascriptDialogOpening:
			go func() { _ = chromedp.Run(ctx, page.HandleJavaScriptDialog(true)) }()
		}
	})
	b.Do(log.Enable())
	return b
}

func (b *Browser) says(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.complaints = append(b.complaints, text)
}

// Do runs actions in the browser. The test ends if it cannot.
func (b *Browser) Do(actions ...chromedp.Action) {
	b.t.Helper()
	if err := chromedp.Run(b.ctx, actions...); err != nil {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.t.Fatalf("%v; the browser says %q, and shows %s", err, b.complaints, b.shown())
	}
}

// shown returns what the page shows, for the log of a test that has failed.
func (b *Browser) shown() (text string) {
	ctx, stop := context.WithTimeout(b.last, time.Second)
	defer stop()
	const page = `location.href + "\n" + document.body.innerText.slice(0, 2000)`
	if err := chromedp.Run(ctx, chromedp.Evaluate(page, &text)); err != nil {
		return err.Error()
	}
	return text
}

// clicking clicks the first element that fits a selector, CSS or XPath, if it is visible. It returns whether it is.
const clicking = `(selector => {
	const e = selector.startsWith('/') ?
		document.evaluate(selector, document, null, XPathResult.FIRST_ORDERED_NODE_TYPE).singleNodeValue :
		document.querySelector(selector);
	if (!e || document.readyState === 'loading' || !e.checkVisibility()) return false;
	setTimeout(() => e.click());
	return true;
})(%q)`

// Click clicks a visible element. The element is found and clicked in one step of the page, because a page that is still loading,
// or that has new contents meanwhile, would move or replace it. Wait for its effect before you click what this page has as well.
func Click(selector string) chromedp.Action {
	return chromedp.ActionFunc(func(ctx context.Context) error {
		for {
			var isClicked bool
			err := chromedp.Evaluate(fmt.Sprintf(clicking, selector), &isClicked).Do(ctx) // fails while another page comes
			if isClicked {
				return nil
			}
			select {
			case <-ctx.Done():
				return errors.Join(fmt.Errorf("cannot click %s: it is not there: %w", selector, ctx.Err()), err)
			case <-time.After(20 * time.Millisecond):
			}
		}
	})
}

// LogIn logs in by the form that the browser shows.
func (b *Browser) LogIn(name, password string) {
	b.t.Helper()
	b.Do(chromedp.SendKeys(`input[name=name]`, name), chromedp.SendKeys(`input[name=password]`, password), chromedp.Submit(`input[name=name]`), chromedp.WaitNotPresent(`input[name=password]`), chromedp.WaitReady(`main`))
}

// Silent fails the test if the browser has reported a failed script, or a violation of a page's policy. Reports that contain
// one of the given texts are ignored.
func (b *Browser) Silent(but ...string) {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, said := range b.complaints {
		if !slices.ContainsFunc(but, func(text string) bool { return strings.Contains(said, text) }) {
			b.t.Errorf("the browser says: %s", said)
		}
	}
}

// Nameless returns the controls of the page without a name for screen readers.
func (b *Browser) Nameless() (controls []string) {
	b.t.Helper()
	b.Do(chromedp.Evaluate(`[...document.querySelectorAll('a, button, select, input:not([type=hidden]), textarea, [role=region], [role=img], nav')].filter(e =>
	!(e.getAttribute('aria-label') || e.textContent.trim() || e.labels?.[0]?.textContent.trim())).map(e => e.outerHTML)`, &controls))
	return controls
}

// Pale returns the texts of the page whose contrast to their background is lower than WCAG 2.2 §1.4.3 requires.
func (b *Browser) Pale() (texts []string) {
	b.t.Helper()
	b.Do(chromedp.Evaluate(pale, &texts))
	return texts
}

// pale computes the contrast of each element that has text. The background is that of the nearest ancestor with one that is
// not transparent.
const pale = `(() => {
	const rgb = c => (c.match(/[\d.]+/g) || []).map(Number);
	const light = c => { const f = v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; return 0.2126 * f(c[0]) + 0.7152 * f(c[1]) + 0.0722 * f(c[2]); };
	const behind = e => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor); if (c.length === 3 || c[3] === 1) return c; } return [255, 255, 255]; };
	return [...document.querySelectorAll('body *')].filter(e => e.checkVisibility() && !e.disabled && [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim())).filter(e => {
		const s = getComputedStyle(e), a = light(rgb(s.color)), b = light(behind(e)), size = parseFloat(s.fontSize);
		const large = size >= 24 || size >= 18.66 && Number(s.fontWeight) >= 700;
		return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05) < (large ? 3 : 4.5);
	}).map(e => e.tagName + ' ' + e.className + ' ' + e.textContent.trim().slice(0, 40) + ' ' + getComputedStyle(e).color + ' on ' + behind(e));
})()`
