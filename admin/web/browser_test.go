package web

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	cdp "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"pmg/config"
)

// complaints are what a browser says of pages: errors of scripts, and what their policy has refused.
type complaints struct {
	mu  sync.Mutex
	all []string
}

func (c *complaints) add(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all = append(c.all, text)
}

// inBrowser starts a browser, which takes every question of a page for answered with yes.
func inBrowser(t *testing.T) (context.Context, *complaints) {
	t.Helper()
	program, err := exec.LookPath("chromium-headless-shell")
	if err != nil {
		t.Skip("chromium-headless-shell is not installed: apt-get install chromium-headless-shell")
	}
	var started *exec.Cmd
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.NoSandbox, chromedp.ModifyCmdFunc(func(cmd *exec.Cmd) {
		started, cmd.SysProcAttr = cmd, &syscall.SysProcAttr{Setpgid: true}
	}))
	ctx, stop := chromedp.NewExecAllocator(context.Background(), options...) // the test's own context ends before the browser can
	ctx, _ = chromedp.NewContext(ctx)
	t.Cleanup(func() {
		_ = chromedp.Cancel(ctx)
		stop()
		if started != nil && started.Process != nil { // its children outlast it if it is killed
			_ = syscall.Kill(-started.Process.Pid, syscall.SIGKILL)
		}
	})
	ctx, stopTest := context.WithTimeout(ctx, 2*time.Minute)
	t.Cleanup(stopTest)
	all := new(complaints)
	chromedp.ListenTarget(ctx, func(event any) {
		switch e := event.(type) {
		case *log.EventEntryAdded:
			all.add(e.Entry.Text)
		case *runtime.EventExceptionThrown:
			all.add(e.ExceptionDetails.Error())
		case *runtime.EventConsoleAPICalled:
			all.add(fmt.Sprint(e.Type, e.Args))
		case *cdp.EventJavascriptDialogOpening:
			go func() { _ = chromedp.Run(ctx, cdp.HandleJavaScriptDialog(true)) }()
		}
	})
	return ctx, all
}

// nameless returns the controls of a page that no screen reader can name.
const nameless = `[...document.querySelectorAll('a, button, select, input:not([type=hidden]), [role=region], nav')].filter(e =>
	!(e.getAttribute('aria-label') || e.textContent.trim() || e.labels?.[0]?.textContent.trim())).map(e => e.outerHTML)`

// In a real browser somebody logs in, sees each page, pauses a connector and sees another page's stream tell of it, and resumes
// it. Nothing of that is refused by the policy of the pages or fails in a script, and each control has a name.
func TestBrowser(t *testing.T) {
	t.Parallel()
	ctx, all := inBrowser(t)
	base, g := start(t)
	run := func(actions ...chromedp.Action) {
		t.Helper()
		if err := chromedp.Run(ctx, actions...); err != nil {
			t.Fatalf("%v; the browser says %q", err, all.all)
		}
	}
	run(log.Enable(), chromedp.Navigate(base+"/ui/connectors"),
		chromedp.SendKeys(`input[name=name]`, config.AdministerScope), chromedp.SendKeys(`input[name=password]`, password), chromedp.Submit(`input[name=name]`),
		chromedp.WaitVisible(`//h1[text()="Connectors"]`))
	for _, p := range pages() {
		var wrong []string
		path, heading := pathOf(&p)
		run(chromedp.Navigate(base+path), chromedp.WaitVisible(`//h1[text()='`+heading+`']`), chromedp.Evaluate(nameless, &wrong))
		if len(wrong) > 0 {
			t.Errorf("%s: controls without a name: %q", path, wrong)
		}
	}
	run(chromedp.Navigate(base+"/ui/connectors"), chromedp.Click(`button[aria-label="Pause operator"]`), chromedp.WaitVisible(`button[aria-label="Resume operator"]`))
	if g.Connector("operator").Hold() == nil {
		t.Error("the connector is not held")
	}
	run(chromedp.Navigate(base+"/ui/"), chromedp.WaitVisible(`[data-k="s.operator"][data-v=held]`))
	g.Connector("operator").SetHold(nil)
	run(chromedp.WaitNotPresent(`[data-k="s.operator"][data-v=held]`)) // without another request for the page
	run(chromedp.Navigate(base+"/ui/connectors"), chromedp.Click(`//a[text()="operator"]`), chromedp.WaitVisible(`//h1[text()="Connector operator"]`),
		chromedp.Click(`button[aria-label="Pause operator"]`), chromedp.WaitVisible(`button[aria-label="Resume operator"]`),
		chromedp.WaitVisible(`//h1[text()="Connector operator"]`), chromedp.Click(`button[aria-label="Resume operator"]`), chromedp.WaitVisible(`button[aria-label="Pause operator"]`))
	run(chromedp.Navigate(base+"/ui/messages"), chromedp.SendKeys(`input[name=q]`, "46700000002"), chromedp.Submit(`input[name=q]`),
		chromedp.WaitVisible(`//a[text()="`+storyID+`"]`), chromedp.Click(`//a[text()="`+storyID+`"]`), chromedp.WaitVisible(`//h1[text()="Message `+storyID+`"]`),
		chromedp.WaitVisible(`//th[text()="operator did not take it"]`), chromedp.WaitVisible(`//td[text()="[14 characters]"]`),
		chromedp.Click(`//a[text()="Show texts"]`), chromedp.WaitVisible(`//td[text()="<script>secret"]`),
		chromedp.Click(`//tr[@id="pdu-0"]//summary`), chromedp.WaitVisible(`//tr[@id="pdu-0"]//details[@open]`))
	logLines(t, g, hostilePDU)
	row := func(text string) chromedp.Action {
		return chromedp.WaitVisible(`//tbody[@id="log"]//td[contains(text(), "` + text + `")]`)
	}
	run(chromedp.Navigate(base+"/ui/pdulog?connector=clients"), row("short_message=*14"))
	logLines(t, g, `enquire_link seq=1000`)
	run(row("seq=1000"), chromedp.Click(`#pause`), chromedp.WaitVisible(`//button[text()="Go on"]`))
	logLines(t, g, `enquire_link seq=1001`)
	run(chromedp.Click(`#pause`), row("seq=1001"), chromedp.Click(`input[name=texts]`), chromedp.Click(`//button[text()="Show"]`), row("<script>secret"))
	run(chromedp.Navigate(base+"/ui/routing"), chromedp.SendKeys(`input[name=to]`, "46700"), chromedp.Click(`//button[text()="Explain"]`), chromedp.WaitVisible(`//pre[contains(text(), "<b>{Account")]`),
		chromedp.Click(`//a[text()="Compare the file with what runs"]`), chromedp.Click(`//button[text()="Reload the configuration"]`), chromedp.WaitVisible(`//p[@class="notice"][contains(text(), "nothing <i>new")]`))
	run(chromedp.Navigate(base+"/ui/connectors"), chromedp.WaitVisible(`button[aria-label="Pause operator"]`),
		chromedp.Submit(`.who button`), chromedp.WaitVisible(`input[name=password]`))
	all.mu.Lock()
	defer all.mu.Unlock()
	if len(all.all) > 0 {
		t.Errorf("the browser says:\n%s", strings.Join(all.all, "\n"))
	}
}
