# The dependencies come in a stage of their own, so that npm's cache stays out of the image. The Node that is installed with
# them where there is an older one is left out: the image has Node 24.
FROM node:24-slim AS dependencies
WORKDIR /opt/fanal
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev && rm -rf node_modules/node-linux-*
COPY src src
# Bundles the web page into the cache in node_modules, which the user of the image may not write to.
RUN node -e 'import("/opt/fanal/src/node/servers/page/page-files.ts").then(({ pageFiles }) => pageFiles())' \
 && rm -rf node_modules/rolldown node_modules/@rolldown

FROM node:24-slim
WORKDIR /opt/fanal
COPY --from=dependencies /opt/fanal/node_modules node_modules
COPY package.json LICENSE ./
COPY bin bin
COPY src src
RUN mkdir /data && chown node:node /data
USER node
VOLUME /data
# By variables, so that they hold for whatever arguments are given in place of those below.
ENV FANAL_DATA_DIR=/data FANAL_REST=true
EXPOSE 9000/tcp 9000/udp 9190 5052
# A node that is syncing answers 206 and is well. No token is needed here.
HEALTHCHECK --interval=30s --start-period=2m CMD ["node", "-e", "fetch('http://127.0.0.1:5052/eth/v1/node/health').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# Without a shell in between, so that the signal of a stop arrives.
ENTRYPOINT ["node", "bin/fanal.js"]
CMD ["node"]
