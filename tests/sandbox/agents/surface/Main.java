import java.net.*;
import java.nio.ByteBuffer;
import java.nio.channels.*;
import java.nio.file.*;
import java.util.concurrent.*;

public class Main {
    public static void main(String[] words) throws Exception {
        var address = UnixDomainSocketAddress.of("/tmp/socket");
        var server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        server.bind(address).configureBlocking(false);
        var selector = Selector.open();
        server.register(selector, SelectionKey.OP_ACCEPT);
        var client = SocketChannel.open(address);
        client.setOption(StandardSocketOptions.SO_SNDBUF, 65536);
        System.out.println("selected " + selector.select());
        var accepted = server.accept();
        client.write(ByteBuffer.wrap("hello".getBytes()));
        System.out.println("read " + accepted.read(ByteBuffer.allocate(9)));
        var pipe = Pipe.open();
        var other = Selector.open();
        pipe.source().configureBlocking(false);
        pipe.source().register(other, SelectionKey.OP_READ);
        pipe.sink().write(ByteBuffer.wrap(new byte[3]));
        System.out.println("piped " + other.select());
        var timers = Executors.newScheduledThreadPool(4);
        System.out.println("scheduled " + timers.schedule(() -> 7, 1, TimeUnit.MILLISECONDS).get());
        timers.shutdown();
        var file = FileChannel.open(Path.of("/home/agent/file"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        var lock = file.lock();
        file.force(true);
        System.out.println("locked " + lock.isValid());
        var child = new ProcessBuilder("/bin/echo", "child").start();
        System.out.print(new String(child.getInputStream().readAllBytes()));
        System.out.println("heap " + (Runtime.getRuntime().maxMemory() < 400 << 20));
    }
}
