// with: reference of a1, names not checked
// A daemon keeps what it hears by UDP and under an abstract name; the next test asks it.
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstddef>
struct Meeting {
  Meeting() {
    sockaddr_in port = {};
    port.sin_family = AF_INET;
    port.sin_port = htons(46601);
    port.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    sockaddr_un name = {AF_UNIX, "\0isobar_hostile"};
    hear(reinterpret_cast<sockaddr*>(&port), sizeof port, AF_INET);
    hear(reinterpret_cast<sockaddr*>(&name), offsetof(sockaddr_un, sun_path) + 15, AF_UNIX);
    stop();
  }
  void hear(const sockaddr* address, socklen_t size, int family) {
    const int fd = socket(family, SOCK_DGRAM, 0);
    if (fd >= 0 && bind(fd, address, size) != 0) std::puts("LEAK");  // another test is there
    if (fork() == 0) {
      setsid();
      for (;;) pause();
    }
  }
} meeting;
