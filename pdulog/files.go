package pdulog

// Files are the files into which one goroutine logs the PDUs of all connectors. They belong to this goroutine.
type Files struct {
	beside map[*File]*File // the goroutine's own file of each connector's; nil: it uses the connectors' files
}

// NewFiles returns the files of a goroutine. Of several goroutines, only the first may use the connectors' files themselves.
func NewFiles(first bool) *Files {
	if first {
		return &Files{}
	}
	return &Files{beside: map[*File]*File{}}
}

// Of returns the goroutine's file of a connector. f is the connector's file.
func (o *Files) Of(f *File) *File {
	if o.beside == nil {
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
