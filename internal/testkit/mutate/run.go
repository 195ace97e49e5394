package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Result is the result of a run.
type Result struct {
	Mutants   []Mutant
	Survivors []int // numbers of mutants
	Killed    int
	Idle      int // survivors that no test executes
}

// A binary is the compiled tests of a package.
type binary struct {
	dir, file string
	tests     []string
	by        map[int][]string // tests that execute a mutant
}

// Run makes mutants and runs tests against them.
func Run(ctx context.Context, o Options) (*Result, error) {
	p, name, err := load(ctx, o.Package)
	if err != nil {
		return nil, err
	}
	files, err := regexp.Compile("^(" + cmp.Or(o.Files, ".*") + ")\\.go$")
	if err != nil {
		return nil, fmt.Errorf("cannot read the pattern of files: %w", err)
	}
	all := slices.DeleteFunc(p.mutants(), func(m Mutant) bool { return !files.MatchString(m.File) })
	if len(all) == 0 {
		return nil, fmt.Errorf("cannot make mutants in %s: no file with something to change is called %q", o.Package, o.Files)
	}
	r := &Result{Mutants: choose(all, o.Count, o.Seed)}
	o.Log("%s: %d of %d mutants", o.Package, len(r.Mutants), len(all))
	tmp, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(tmp)
	overlay, err := p.overlay(tmp, o.Package, name, r.Mutants)
	if err != nil {
		return nil, err
	}
	binaries, err := compileAll(ctx, &o, tmp, overlay)
	if err != nil {
		return nil, err
	}
	for i, m := range r.Mutants {
		killed, executed := false, false
		for _, b := range binaries {
			if tests := b.by[i]; len(tests) > 0 && !killed {
				executed = true
				killed, err = b.kills(ctx, &o, i, tests)
			}
			if err != nil {
				return nil, err
			}
		}
		switch {
		case killed:
			r.Killed++
			continue
		case !executed:
			r.Idle++
		}
		r.Survivors = append(r.Survivors, i)
		o.Log(
			"%s:%d: %s%s", filepath.Join(o.Package, m.File), m.Line, m.What,
			map[bool]string{false: " (no test executes it)"}[executed],
		)
	}
	return r, nil
}

// compileAll compiles the tests, and records the mutants that each test executes.
func compileAll(ctx context.Context, o *Options, tmp, overlay string) (all []*binary, err error) {
	for i, dir := range o.Tests {
		b, err := compile(ctx, dir, filepath.Join(tmp, fmt.Sprint(i, ".test")), overlay)
		if err != nil {
			return nil, err
		}
		if err := b.cover(ctx, o, filepath.Join(tmp, "seen")); err != nil {
			return nil, err
		}
		all = append(all, b)
	}
	return all, nil
}

// load parses and checks a package.
func load(ctx context.Context, dir string) (*pkg, string, error) {
	cmd := exec.CommandContext(
		ctx, "go", "list", "-export", "-deps", "-json=ImportPath,Export,GoFiles,Dir,DepOnly,Name", "./"+filepath.Base(dir),
	)
	cmd.Dir = filepath.Dir(dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, "", fmt.Errorf("cannot list %s: %w", dir, err)
	}
	type listed struct {
		ImportPath, Export, Dir, Name string
		GoFiles                       []string
		DepOnly                       bool
	}
	exports := map[string]string{}
	var it listed
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var l listed
		if err := d.Decode(&l); err == io.EOF {
			break
		} else if err != nil {
			return nil, "", err
		}
		exports[l.ImportPath] = l.Export
		if !l.DepOnly {
			it = l
		}
	}
	p := &pkg{fset: token.NewFileSet(), text: map[string][]byte{}, info: &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}}
	for _, name := range it.GoFiles {
		path := filepath.Join(it.Dir, name)
		if p.text[path], err = os.ReadFile(path); err != nil {
			return nil, "", err
		}
		f, err := parser.ParseFile(p.fset, path, p.text[path], parser.SkipObjectResolution)
		if err != nil {
			return nil, "", err
		}
		p.files = append(p.files, f)
	}
	conf := types.Config{
		Importer: importer.ForCompiler(p.fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) }),
	}
	p.types, err = conf.Check(it.ImportPath, p.fset, p.files, p.info)
	return p, it.Name, err
}

// overlay writes the changed files, and the file that lists them for go build.
func (p *pkg) overlay(tmp, dir, name string, all []Mutant) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	replace := map[string]string{}
	write := func(path string, text []byte) error {
		to := filepath.Join(tmp, "changed_"+filepath.Base(path))
		replace[path] = to
		return os.WriteFile(to, text, 0o600)
	}
	for path, text := range p.rewritten(all) {
		if err := write(path, text); err != nil {
			return "", err
		}
	}
	if err := write(filepath.Join(dir, "zz_mutants.go"), runtime(name, len(all))); err != nil {
		return "", err
	}
	b, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	file := filepath.Join(tmp, "overlay.json")
	return file, os.WriteFile(file, b, 0o600)
}

func compile(ctx context.Context, dir, file, overlay string) (*binary, error) {
	cmd := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-o", file, "-overlay", overlay, ".")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("cannot compile the tests of %s with mutants: %w\n%s", dir, err, out)
	}
	cmd = exec.CommandContext(ctx, file, "-test.list", "^Test")
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("cannot list the tests of %s: %w", dir, err)
	}
	return &binary{dir: dir, file: file, tests: strings.Fields(string(out)), by: map[int][]string{}}, nil
}

func (b *binary) command(ctx context.Context, variable string, tests ...string) *exec.Cmd {
	for i, t := range tests {
		tests[i] = regexp.QuoteMeta(t)
	}
	cmd := exec.CommandContext(ctx, b.file, "-test.failfast", "-test.run", "^("+strings.Join(tests, "|")+")$")
	cmd.Dir = b.dir
	cmd.Env = append(os.Environ(), variable)
	cmd.WaitDelay = time.Second
	return cmd
}

// cover records the mutants that each test executes, with none switched on. It omits tests that fail in this form, such as
// those that count allocations.
func (b *binary) cover(ctx context.Context, o *Options, seen string) error {
	for _, test := range b.tests {
		_ = os.Remove(seen)
		limited, cancel := context.WithTimeout(ctx, o.Patience)
		err := b.command(limited, "PMG_MUTANTS_SEEN="+seen, test).Run()
		cancel()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			o.Log("%s: %s is left out: it fails without a mutant: %v", b.dir, test, err)
			continue
		}
		text, err := os.ReadFile(seen)
		if errors.Is(err, os.ErrNotExist) {
			continue
		} else if err != nil {
			return err
		}
		for _, line := range strings.Fields(string(text)) {
			if n, err := strconv.Atoi(line); err == nil && !slices.Contains(b.by[n], test) {
				b.by[n] = append(b.by[n], test)
			}
		}
	}
	return nil
}

// kills reports whether tests fail, or do not end, with a mutant switched on.
func (b *binary) kills(ctx context.Context, o *Options, n int, tests []string) (bool, error) {
	limited, cancel := context.WithTimeout(ctx, o.Patience)
	defer cancel()
	err := b.command(limited, "PMG_MUTANT="+strconv.Itoa(n), slices.Clone(tests)...).Run()
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	var exit *exec.ExitError
	if err != nil && limited.Err() == nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) {
		return false, err
	}
	return err != nil, nil
}
