package chrome

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// axe is the package of npm that checks pages for people with disabilities.
const axe = "axe-core@4.14.1"

// An Axe finds what shuts people with disabilities out of a page.
type Axe struct{ script string }

// NewAxe gets axe-core by npm. The test is skipped if it cannot be got.
func NewAxe(t testing.TB) *Axe {
	t.Helper()
	npm, err := exec.LookPath("npm")
	if err != nil {
		t.Skip("npm is not installed, which gets " + axe)
	}
	dir := t.TempDir()
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	cmd := exec.CommandContext(ctx, npm, "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", dir, axe)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("npm cannot get %s, perhaps without a network: %v: %s", axe, err, out)
	}
	script, err := os.ReadFile(filepath.Join(dir, "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	return &Axe{string(script)}
}

// violations runs axe, and returns what is serious or critical, each with the first elements that it is about.
const violations = `axe.run(document, {resultTypes: ['violations']}).then(r => r.violations.filter(v => ['serious', 'critical'].includes(v.impact)).
	map(v => v.id + ': ' + v.help + ': ' + v.nodes.slice(0, 3).map(n => n.html.slice(0, 150)).join(' | ')))`

// Violations returns what is serious or critical on the page that a browser shows, in light and in dark colors.
func (a *Axe) Violations(b *Browser) (all []string) {
	b.t.Helper()
	var ignored any
	b.Do(chromedp.Evaluate(a.script+"\n;null", &ignored))
	for _, scheme := range []string{"light", "dark"} {
		var found []string
		b.Do(
			emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}),
			chromedp.Evaluate(violations, &found, func(p *runtime.EvaluateParams) *runtime.EvaluateParams {
				return p.WithAwaitPromise(true)
			}),
		)
		for _, one := range found {
			all = append(all, scheme+": "+one)
		}
	}
	return all
}
