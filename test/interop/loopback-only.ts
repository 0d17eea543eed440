// Preloaded into foreign programs (node --import) that bind to all interfaces without a flag against it: binds their
// sockets to loopback.
import dgram from "node:dgram";
import net from "node:net";

const LOOPBACK = "127.0.0.1";
const isWildcard = (host: unknown) => host === undefined || host === "0.0.0.0" || host === "::";

type Listen = (this: net.Server, ...args: unknown[]) => net.Server;
const listen = net.Server.prototype.listen as Listen;
const listenOnLoopback: Listen = function (first, ...rest) {
  if (typeof first === "number") {
    const [host, ...others] = typeof rest[0] === "string" ? rest : [undefined, ...rest];
    return listen.call(this, first, isWildcard(host) ? LOOPBACK : host, ...others);
  }
  if (typeof first === "object" && first !== null && "port" in first) {
    const { host } = first as net.ListenOptions;
    return listen.call(this, { ...first, host: isWildcard(host) ? LOOPBACK : host }, ...rest);
  }
  return listen.call(this, first, ...rest);
};
net.Server.prototype.listen = listenOnLoopback;

type Bind = (this: dgram.Socket, ...args: unknown[]) => dgram.Socket;
const bind = dgram.Socket.prototype.bind as Bind;
const bindToLoopback: Bind = function (port, address, ...rest) {
  return bind.call(this, port, isWildcard(address) ? LOOPBACK : address, ...rest);
};
dgram.Socket.prototype.bind = bindToLoopback;
