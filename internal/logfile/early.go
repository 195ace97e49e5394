package logfile

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

const (
	mostFree = int64(1 << 30) // Options.MinFree asks for no more, however large the disk is
	lastDay  = 24 * time.Hour
)

// makeRoom returns how many segments must be removed so that Options.MinFree of the disk is
// free. The first n are removed in any case.
//
// Segments of the last day are removed only while the pdu logs take more of the disk than all other
// files. Otherwise other programs' files would cost the lines that operators need most. If removing
// the segments of all logs would not suffice, none is removed, because that would help nobody.
func (r *retention) makeRoom(segments []Segment, n int) (int, error) {
	o := &r.dir.o
	if o.MinFree <= 0 || n == len(segments) {
		return n, nil
	}
	free, size, err := r.dir.Space(r.dir.path)
	if err != nil {
		return n, err
	}
	for _, s := range segments[:n] {
		free += s.size()
	}
	least := min(size/100*int64(o.MinFree), mostFree)
	if free >= least {
		return n, nil
	}
	young := time.Now().UTC().Add(-lastDay).Format(StampLayout)
	all, old, err := r.dir.octets(young)
	if err != nil {
		return n, err
	}
	if fillIt := all > (size-free)/2; fillIt {
		young, old = "~", all // behind every stamp
	}
	before := n
	if free+old >= least {
		for n < len(segments) && segments[n].Stamp < young && free < least {
			free += segments[n].size()
			n++
		}
	}
	r.early.Add(int64(n - before))
	r.warn(free, least)
	return n, nil
}

// warn warns the operator, at most once an hour, that the disk is nearly full.
func (r *retention) warn(free, least int64) {
	if !r.warnedAt.IsZero() && time.Since(r.warnedAt) < time.Hour {
		return
	}
	removed := r.early.Load()
	e := r.log.Error().Int64("removed", removed-r.warned).Int64("free_mib", max(0, free)>>20).Int64("min_free_mib", least>>20)
	r.warned, r.warnedAt = removed, time.Now()
	if free < least {
		e.Msg(
			"the disk is nearly full, and old " + r.dir.what +
				"s would not make enough room; make room, or nothing is logged when it is full",
		)
		return
	}
	e.Msg(r.dir.what + "s are removed early because the disk is nearly full; make room to keep them")
}

// octets returns how many octets the rotated files of the directory take, and those that were
// rotated before a stamp.
func (d *Dir) octets(stamp string) (all, old int64, err error) {
	files, err := os.ReadDir(d.path)
	if err != nil {
		return 0, 0, err
	}
	for _, f := range files {
		_, at, _, ok := Split(f.Name())
		if !ok || at == "" {
			continue
		}
		st, err := os.Lstat(filepath.Join(d.path, f.Name()))
		if err != nil {
			continue // the file has just been removed
		}
		all += st.Size()
		if at < stamp {
			old += st.Size()
		}
	}
	return all, old, nil
}

// diskSpace returns how many bytes of the disk with path are free for users, and the size of
// the disk.
func diskSpace(path string) (free, size int64, err error) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(path, &st); err != nil {
		return 0, 0, fmt.Errorf("cannot get free space of disk: %w", err)
	}
	block := int64(st.Bsize)
	return int64(st.Bavail) * block, int64(st.Blocks) * block, nil
}
