const net = require('net'), fs = require('fs'), child = require('child_process');
const { Worker, isMainThread, parentPort } = require('worker_threads');
const print = (text) => fs.writeSync(1, text + '\n');
if (!isMainThread) {
    parentPort.postMessage('worker');
} else {
    const server = net.createServer((socket) => socket.on('data', (data) => socket.end(data)));
    server.listen('/tmp/socket', () => {
        const client = net.connect('/tmp/socket', () => client.write('echo'));
        client.on('data', (data) => {
            print(data.toString());
            server.close();
            new Worker(__filename).on('message', (message) => {
                print(message);
                child.exec('echo child', (error, output) => {
                    print(output.trim());
                    fs.fsyncSync(fs.openSync('/home/agent/file', 'w'));
                    setTimeout(() => { print('timer'); process.exit(0); }, 1);
                });
            });
        });
    });
}
