package chrome

import (
	"context"
	"fmt"
	"time"

	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// focused describes the element that has the focus: its name for a screen reader, and what hinders a user of the keyboard.
const focused = `(() => {
	const e = document.activeElement;
	if (!e || e === document.body || document.readyState === 'loading') return {name: '', wrong: ''};
	const label = e.labels?.[0];
	const texts = label ? [...label.childNodes].filter(n => n.nodeType === 3) : [];
	const own = texts.map(n => n.data).join('').trim();
	const name = e.getAttribute('aria-label') || own || e.textContent.trim();
	const s = getComputedStyle(e), r = e.getBoundingClientRect();
	let wrong = '';
	if (s.outlineStyle === 'none' || parseFloat(s.outlineWidth) === 0) wrong = 'the focus is not shown';
	else if (r.bottom < 0 || r.top > innerHeight || r.right < 0 || r.left > innerWidth) wrong = 'it is out of sight';
	return {name, wrong};
})()`

// mostTabs is how many controls a page may have.
const mostTabs = 150

// Tab presses the tabulator until the control with a name has the focus, which must be shown. The page must have the control.
func (b *Browser) Tab(name string) {
	b.t.Helper()
	var seen []string
	for range mostTabs {
		var at struct{ Name, Wrong string }
		b.Do(chromedp.KeyEvent(kb.Tab), chromedp.Evaluate(focused, &at))
		if at.Wrong != "" {
			b.t.Errorf("%q by keyboard: %s", at.Name, at.Wrong)
		}
		if at.Name == name {
			return
		}
		seen = append(seen, at.Name)
	}
	b.Do(chromedp.ActionFunc(func(context.Context) error { return fmt.Errorf("no control %q can be reached: %q", name, seen) }))
}

// Type goes to the control with a name by the tabulator and types a text over what it has.
func (b *Browser) Type(name, text string) {
	b.t.Helper()
	b.Tab(name)
	b.Do(chromedp.KeyEvent("a", chromedp.KeyModifiers(2)), chromedp.KeyEvent(text)) // Ctrl+A
}

// Press goes to the control with a name by the tabulator and presses Enter.
func (b *Browser) Press(name string) {
	b.t.Helper()
	b.Tab(name)
	b.Do(chromedp.KeyEvent(kb.Enter))
}

// Choose goes to a control for a file by the tabulator, opens its dialog by the keyboard, and answers it with a file.
func (b *Browser) Choose(name, file string) {
	b.t.Helper()
	opened := make(chan *page.EventFileChooserOpened, 1)
	ctx, stop := context.WithCancel(b.ctx)
	defer stop()
	chromedp.ListenTarget(ctx, func(event any) {
		if e, ok := event.(*page.EventFileChooserOpened); ok {
			opened <- e
		}
	})
	b.Do(page.SetInterceptFileChooserDialog(true))
	b.Tab(name)
	b.Do(chromedp.KeyEvent(kb.Enter), chromedp.ActionFunc(func(ctx context.Context) error {
		select {
		case e := <-opened:
			return dom.SetFileInputFiles([]string{file}).WithBackendNodeID(e.BackendNodeID).Do(ctx)
		case <-time.After(10 * time.Second):
			return fmt.Errorf("%q opens no dialog by the keyboard", name)
		}
	}), page.SetInterceptFileChooserDialog(false))
}
