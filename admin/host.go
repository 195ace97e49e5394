package admin

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"

	"pmg/config"
)

// hostNames returns the names that a request may give as its Host besides addresses.
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

// checkHost refuses requests for a host that this is not. A web page anywhere can make
// a browser on the operator's machine ask a name of the page's own that has been
// pointed here, and then read the answer (DNS rebinding); but it cannot
// send another name than its own as the Host.
//
// A loopback address, the address that the connection came to, the host of
// admin.address and those of admin.hosts are served, and requests without a Host,
// which no browser sends.
func checkHost(names map[string]bool, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := hostOf(r.Host)
		if host != "" && !names[host] && !isOwnAddress(host, r) {
			http.Error(w, fmt.Sprintf("host %q is not served here; admin.hosts in the configuration lists further ones", host), http.StatusMisdirectedRequest)
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
