serve_nginx() {
	cat >"$work/nginx.conf" <<-END
		user root;
		worker_processes 1;
		pid $work/nginx.pid;
		error_log stderr;
		events { }
		http {
			access_log off;
			client_body_temp_path $work/body; proxy_temp_path $work/proxy; fastcgi_temp_path $work/fastcgi;
			uwsgi_temp_path $work/uwsgi; scgi_temp_path $work/scgi;
			sendfile on;
			keepalive_requests 100000;
			server {
				listen $host:8080;
				listen $host:8443 ssl http2;
				ssl_certificate $dir/certificate;
				ssl_certificate_key $dir/key;
				root $dir;
			}
		}
	END
	exec nginx -c "$work/nginx.conf" -e stderr -g 'daemon off;'
}
ready() { curl -sf -o /dev/null "http://$host:8080/small"; }
