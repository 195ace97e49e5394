package web

import (
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"io"
	"slices"
	"sync"
	"time"
)

// Limits of uploaded sheets, which are kept in memory until they are put in force.
const (
	mostDrafts      = 8
	mostDraftOctets = 32 << 20 // compressed, of all
	draftLife       = time.Hour
)

// A draft is an uploaded sheet.
type draft struct {
	id, list, owner string // the list that it is for, and the caller who has uploaded it
	file            string // its name on the caller's machine
	at              time.Time
	packed          []byte
}

// drafts are uploaded sheets. If there are too many, the oldest ones go.
type drafts struct {
	mu  sync.Mutex
	all []*draft
}

// add keeps a sheet, and returns its id.
func (d *drafts) add(one draft, data []byte, now time.Time) (id string) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write(data) // a buffer takes everything
	_ = z.Close()
	one.id, one.at, one.packed = rand.Text(), now, packed.Bytes()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.all = append(d.all, &one)
	octets := 0
	for i, old := range slices.Backward(d.all) {
		octets += len(old.packed)
		if len(d.all)-i > mostDrafts || octets > mostDraftOctets || now.Sub(old.at) > draftLife {
			d.all = slices.Clone(d.all[i+1:])
			break
		}
	}
	return one.id
}

// find returns the sheet of a caller for a list, nil if it is not there any more.
func (d *drafts) find(id, list, owner string) (file string, data []byte) {
	d.mu.Lock()
	i := slices.IndexFunc(d.all, func(one *draft) bool { return one.id == id && one.list == list && one.owner == owner })
	if i < 0 {
		d.mu.Unlock()
		return "", nil
	}
	one := d.all[i]
	d.mu.Unlock()
	z, err := gzip.NewReader(bytes.NewReader(one.packed))
	if err != nil {
		return "", nil
	}
	if data, err = io.ReadAll(z); err != nil {
		return "", nil
	}
	return one.file, data
}
