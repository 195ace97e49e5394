package pdulog

// Files are the files into which one goroutine logs the PDUs of all connectors. They belong to this goroutine.
type Files struct {
	first  bool            // the goroutine uses the connectors' files, but those that are shared
	beside map[*File]*File // the goroutine's own file of each other connector's
}

// NewFiles returns the files of a goroutine. Of several goroutines, only the first may use the connectors' files themselves.
func NewFiles(first bool) *Files {
	return &Files{first: first, beside: map[*File]*File{}}
}

// Of returns the goroutine's file of a connector. f is the connector's file.
func (o *Files) Of(f *File) *File {
	if o.first && !f.shared.Load() {
		return f
	}
	if own := o.beside[f]; own != nil {
		return own
	}
	return o.add(f)
}

// add begins a file beside f, and forgets those of connectors that were removed. Sessions of such a connector may still
// log, and begin another.
func (o *Files) add(f *File) *File {
	for other, own := range o.beside {
		if own.leave() {
			delete(o.beside, other)
		}
	}
	own := f.Beside()
	o.beside[f] = own
	return own
}
