package admin

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"

	"pmg/config"
)

// hostNames returns the host names that the Host of a request may have. Addresses are
// checked by isOwnAddress.
func hostNames(cfg config.Admin) map[string]bool {
	names := map[string]bool{"localhost": true}
	for _, h := range append([]string{cfg.Address}, cfg.Hosts...) {
		if name := hostOf(h); name != "" {
			names[name] = true
		}
	}
	return names
}

// hostOf returns the host of host:port or of a bare host, in lower case.
func hostOf(s string) string {
	if h, _, err := net.SplitHostPort(s); err == nil {
		s = h
	}
	s = strings.TrimSuffix(strings.TrimPrefix(s, "["), "]")
	return strings.ToLower(strings.TrimSuffix(s, "."))
}

// checkHost refuses requests for the host name of another machine. A web page can point
// its own host name at this address, make a browser on the operator's machine send
// requests to that name, and read the answers (DNS rebinding). It cannot make the
// browser send a Host other than the page's own.
//
// The hosts that are served are loopback addresses, the address that the connection
// came to, the host of admin.address and those of admin.hosts. Requests without a Host
// are served too, because no browser sends them.
func checkHost(names map[string]bool, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := hostOf(r.Host)
		if host != "" && !names[host] && !isOwnAddress(host, r) {
			http.Error(
				w,
				fmt.Sprintf(
					"host %q is not served here; add it to admin.hosts in the configuration if it is this gateway's", host,
				),
				http.StatusMisdirectedRequest,
			)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// isOwnAddress reports whether host is a loopback address or the one that the
// request's connection came to.
func isOwnAddress(host string, r *http.Request) bool {
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return false
	}
	ip = ip.Unmap().WithZone("")
	if ip.IsLoopback() {
		return true
	}
	local, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	return ok && local.AddrPort().Addr().Unmap().WithZone("") == ip
}
