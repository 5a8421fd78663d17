import de.bwaldvogel.mongo.MongoServer;
import de.bwaldvogel.mongo.MongoVersion;
import de.bwaldvogel.mongo.backend.h2.H2Backend;
import java.util.List;

/**
 * Serves the MongoDB protocol on 127.0.0.1 from an in-memory store, or from the file given as second argument. The first is
 * the port, 0 for any. Says "listening PORT" once it serves and ends when its standard input does, so that it never outlives
 * the tests that started it.
 */
final class Launcher {
    /** What the current driver asks for at least; the library's own newest version is older than that. */
    private static final class AcceptedVersion implements MongoVersion {
        @Override
        public List<Integer> getVersionArray() {
            return List.of(4, 4, 0);
        }

        @Override
        public int getWireVersion() {
            return 9;
        }
    }

    public static void main(String[] args) throws Exception {
        H2Backend backend = args.length > 1 ? new H2Backend(args[1]) : H2Backend.inMemory();
        backend.version(new AcceptedVersion());
        MongoServer server = new MongoServer(backend);
        server.bind("127.0.0.1", Integer.parseInt(args[0]));
        System.out.println("listening " + server.getLocalAddress().getPort());
        while (System.in.read() >= 0) {
            continue;
        }
        server.shutdownNow();
        System.exit(0);
    }
}
