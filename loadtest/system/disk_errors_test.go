package system

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pmg/internal/testkit/lossfs"
	"pmg/internal/testkit/process"
	"pmg/internal/testkit/testutil"
	"pmg/loadtest"
)

var (
	diskErrors = flag.Int("disk-errors", 3, "how many errors TestDiskErrors has its disk report")
	diskSeed   = flag.Uint64("disk-seed", 0, "seed of TestDiskErrors; 0: a new one")
)

// A disk is a directory whose power can be cut. The disk is a file system in user space, or a real ext4 below which is one.
type disk struct {
	t       *testing.T
	ext4    bool
	fs      *lossfs.FS
	dir     string // of the gateway
	under   string // of the image, with ext4
	device  string
	unmount func() error
}

const imageName = "image"

func newDisk(t *testing.T, ext4 bool) *disk {
	d := &disk{t: t, ext4: ext4, fs: lossfs.New(), dir: filepath.Join(t.TempDir(), "disk")}
	d.under = d.dir
	if ext4 {
		d.under += "-image"
	}
	for _, dir := range []string{d.dir, d.under} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	var err error
	if d.unmount, err = d.fs.Mount(d.under); err != nil {
		t.Skipf("FUSE is not to be had: %v", err)
	}
	t.Cleanup(func() { d.fs.PowerOff(lossfs.All, nil); d.detach() })
	if ext4 {
		path := filepath.Join(d.under, imageName)
		for _, command := range [][]string{
			{"truncate", "-s", "256M", path}, {"mkfs.ext4", "-q", "-F", "-b", "4096", path}, {"sync", path}, {"sync", d.under},
		} {
			if out, err := exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil {
				t.Skipf("%s: %v: %s", command[0], err, out)
			}
		}
		if err := d.attach(); err != nil {
			t.Skip(err)
		}
	}
	return d
}

// attach mounts the ext4 that is on the image.
func (d *disk) attach() error {
	out, err := exec.Command("losetup", "-f", "--show", filepath.Join(d.under, imageName)).CombinedOutput()
	if err != nil {
		return fmt.Errorf("losetup: %w: %s", err, out)
	}
	d.device = strings.TrimSpace(string(out))
	if out, err := exec.Command("mount", "-t", "ext4", d.device, d.dir).CombinedOutput(); err != nil {
		return fmt.Errorf("mount: %w: %s", err, out)
	}
	return nil
}

// detach takes the disk away.
func (d *disk) detach() {
	if d.device != "" {
		_ = exec.Command("umount", d.dir).Run()
		_ = exec.Command("losetup", "-d", d.device).Run()
		d.device = ""
	}
	testutil.Eventually(d.t, "the disk is free", func() bool { return d.unmount == nil || d.unmount() == nil })
	d.unmount = nil
}

// cut cuts the power, and gives it back. A part of a block never reaches the disk below ext4, which believes that none does.
func (d *disk) cut(random *rand.Rand) {
	d.t.Helper()
	losses := []lossfs.Loss{lossfs.All, lossfs.Some, lossfs.None, lossfs.Torn}
	if d.ext4 {
		losses = losses[:3]
	}
	l := losses[random.IntN(len(losses))]
	next := d.fs.PowerOff(l, random)
	d.detach()
	d.fs = next
	var err error
	if d.unmount, err = d.fs.Mount(d.under); err == nil && d.ext4 {
		err = d.attach()
	}
	if err != nil {
		d.t.Fatal(err)
	}
}

// A disk reports errors, and some time later its power is cut. Each start serves, what was accepted arrives, and no client hears of a
// message whose fate was open that it was not accepted.
func TestDiskErrors(t *testing.T) {
	testutil.Long(t)
	for _, c := range []struct {
		name  string
		ext4  bool
		fault lossfs.Operation
	}{{"sync", false, lossfs.Sync}, {"write", false, lossfs.Write}, {"ext4", true, lossfs.Write}} {
		t.Run(c.name, func(t *testing.T) {
			seed := *diskSeed
			if seed == 0 {
				seed = rand.Uint64()
			}
			t.Logf("-disk-seed %d", seed)
			diskFails(t, newDisk(t, c.ext4), c.fault, rand.New(rand.NewPCG(seed, 0)))
		})
	}
}

func diskFails(t *testing.T, d *disk, fault lossfs.Operation, random *rand.Rand) {
	sink, err := loadtest.StartSink(loadtest.SinkOptions{Listen: "127.0.0.1:0", Delay: 2 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer sink.Close()
	store, events := filepath.Join(d.dir, "store"), filepath.Join(d.dir, "events")
	file := process.WriteConfig(t, fmt.Sprintf(
		killConfig, store, events, filepath.Join(d.dir, "stats"), testutil.FreeAddress(t), sink.Addr(), killSessions, killWindow, "resend",
	))
	loads := startStubborn(killLoads)
	k := killing{}
	cuts, ends := 0, 0
	for k.kills = 0; k.kills < *diskErrors; k.kills++ {
		p := program(t).Serve(t, file)
		k.serves(p, loads)
		time.Sleep(time.Duration(random.IntN(300)) * time.Millisecond)
		var text []byte
		if d.ext4 { // not what ext4 has of its own, which cannot do without
			text = []byte("#00")
		}
		d.fs.Fail(fault, 1+random.IntN(20), text)
		testutil.Eventually(t, "the disk has failed", func() bool { return d.fs.Failed() > 0 })
		select {
		case <-p.Ended:
			_ = p.Cmd.Wait()
			if status := p.Cmd.ProcessState.ExitCode(); status != 75 {
				t.Errorf("exit status %d", status)
			}
			ends++
		case <-time.After(2 * time.Second): // the error is of a file that is written again
			p.Kill()
		}
		if random.IntN(4) == 0 { // immediately
			d.cut(random)
			cuts++
			continue
		}
		p = program(t).Serve(t, file)
		k.serves(p, loads)
		time.Sleep(time.Duration(random.IntN(2000)) * time.Millisecond)
		p.Kill()
		d.cut(random)
		cuts++
	}
	last := program(t).Serve(t, file)
	k.serves(last, loads)
	time.Sleep(100 * time.Millisecond)
	loads.end()
	for _, r := range loads.results { // those that were throttled were not accepted: a gateway that stops takes no more
		if r.Refused+r.Unexpected != 0 || r.GaveUp {
			t.Errorf("a client: %q, %v, gave up: %v", r.Problems(), r.Statuses, r.GaveUp)
		}
	}
	last.Settle()
	if status := last.Stop(); status != 0 {
		t.Errorf("exit status %d", status)
	}
	if missing := loads.missing(sink.Result()); missing > 0 {
		t.Errorf("%d accepted messages have not arrived", missing)
	}
	_, all := endsOf(t, events)
	r := sink.Result()
	t.Logf("%d errors, %d of which have ended the gateway, and %d power cuts: %d messages accepted, %d arrived, %d of them twice, %d events",
		k.kills, ends, cuts, loads.accepted, r.Unique, r.Doubled, all)
}
