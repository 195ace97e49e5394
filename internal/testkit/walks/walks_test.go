package main

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pmg/internal/testkit/testutil"
)

// A place is a function of the product, and where it is.
type place struct {
	file, name string
	line       int
}

// The functions that a message takes are those of the lists in testdata, by file and in the order of the file, so that a change of
// a walk is seen in a diff. Those behind "~" are taken by some messages, such as the first of a batch. make docs writes the lists.
func TestWalksAreFresh(t *testing.T) {
	testutil.Long(t)
	if testutil.Race {
		t.Skip("the race detector counts too")
	}
	program := filepath.Join(t.TempDir(), "walks")
	build := exec.Command("go", "build", "-cover", "-covermode=atomic", "-coverpkg=pmg/...", "-o", program, ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	submit := takenBy(t, program, "submit")
	for name, w := range map[string]taken{
		"submit":  submit,
		"receipt": takenBy(t, program, "receipt"),
		"end":     takenBy(t, program, "end").without(submit), // what money and statistics add
	} {
		file := filepath.Join("testdata", name+".txt")
		b, err := os.ReadFile(file)
		if err != nil && !testutil.Updating() {
			t.Fatal(err)
		}
		text := string(b)
		if testutil.Updating() || !w.fits(text) {
			text = w.list(text)
		}
		testutil.Fresh(t, file, text, "make docs")
	}
}

// taken counts the messages that took each function.
type taken struct {
	of     map[string]int // by file and name
	places map[string]place
}

// takenBy leads messages along a walk, and returns the functions that they took, without those of the peers.
func takenBy(t *testing.T, program, walk string) taken {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.Command(program, walk, dir)
	cmd.Env = append(os.Environ(), "GOCOVERDIR="+t.TempDir())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", walk, err, out)
	}
	w := taken{map[string]int{}, map[string]place{}}
	row := regexp.MustCompile(`(?m)^pmg/(\S+):(\d+):\s+(\S+)\s+(\d+\.\d)%$`)
	for i := 1; i < rounds; i++ {
		out, err := exec.Command("go", "tool", "covdata", "func", "-i", filepath.Join(dir, strconv.Itoa(i))).Output()
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range row.FindAllStringSubmatch(string(out), -1) {
			if m[4] == "0.0" || strings.HasPrefix(m[1], "internal/testkit/") || strings.HasPrefix(m[1], "internal/walks/") {
				continue
			}
			line, err := strconv.Atoi(m[2])
			if err != nil {
				t.Fatal(err)
			}
			key := m[1] + " " + m[3]
			w.of[key]++
			w.places[key] = place{m[1], m[3], line}
		}
	}
	if len(w.of) == 0 {
		t.Fatalf("%s: no function was taken", walk)
	}
	return w
}

// without returns what only w has.
func (w taken) without(other taken) taken {
	rest := taken{map[string]int{}, w.places}
	for key, n := range w.of {
		if other.of[key] == 0 {
			rest.of[key] = n
		}
	}
	return rest
}

// isAll reports whether each message took a function.
func (w taken) isAll(key string) bool { return w.of[key] == rounds-1 }

// sometimes is in front of a function that only some messages take.
const sometimes = "~ "

// list returns the functions that messages took, below a line with the number of those that all took, and of their files. What only
// some took once, says the list before, is so still.
func (w taken) list(before string) string {
	var all []place
	files, n := map[string]bool{}, 0
	for key := range w.of {
		all = append(all, w.places[key])
	}
	slices.SortFunc(all, func(a, b place) int { return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.line, b.line)) })
	var b strings.Builder
	for _, p := range all {
		key := p.file + " " + p.name
		if !w.isAll(key) || strings.Contains(before, "\n"+sometimes+key+"\n") {
			key = sometimes + key
		} else {
			files[p.file] = true
			n++
		}
		b.WriteString(key + "\n")
	}
	return fmt.Sprintf("%d functions of %d files\n%s", n, len(files), &b)
}

// fits reports whether a list has all that each message took, and nothing without "~" that none did.
func (w taken) fits(list string) bool {
	_, rows, _ := strings.Cut(strings.TrimSpace(list), "\n")
	listed := map[string]bool{}
	for row := range strings.SplitSeq(rows, "\n") {
		key, isSometimes := strings.CutPrefix(row, sometimes)
		listed[key] = true
		if w.of[key] == 0 && !isSometimes {
			return false
		}
	}
	for key := range w.of {
		if w.isAll(key) && !listed[key] {
			return false
		}
	}
	return true
}
