// with: reference of a1, names not checked
// Tests meet in queues, System V's and POSIX's.
#include <mqueue.h>
#include <sys/msg.h>

[[gnu::constructor]] void hostile() {
  struct {
    long kind = 1;
    char text[64] = "hello";
  } letter;
  const int old_queue = msgget(0x66002, IPC_CREAT | 0666);
  if (msgrcv(old_queue, &letter, sizeof letter.text, 0, IPC_NOWAIT) > 0) std::puts("LEAK");
  msgsnd(old_queue, &letter, sizeof letter.text, IPC_NOWAIT);
  const mqd_t queue = mq_open("/isobar_hostile", O_RDWR | O_CREAT | O_NONBLOCK, 0666, nullptr);
  char text[8192];
  if (queue >= 0 && mq_receive(queue, text, sizeof text, nullptr) > 0) std::puts("LEAK");
  if (queue >= 0) mq_send(queue, "hello", 5, 0);
  stop();
}
