
# The words before the cursor that are no options and no values of options; _cartbus_config is what --config names.
_cartbus_read() {
	local at word takes_value=
	_cartbus_words=() _cartbus_config=
	for ((at = 1; at < COMP_CWORD; at++)); do
		word=${COMP_WORDS[at]}
		if [[ $word == = ]]; then
			continue
		elif [[ $takes_value ]]; then
			[[ $takes_value != --config ]] || printf -v _cartbus_config %s "${word/#\~/$HOME}"
			takes_value=
		elif [[ $word == --* ]]; then
			[[ -z $(_cartbus_value "$(_cartbus_subcommand)" "$word") ]] || takes_value=$word
		else
			_cartbus_words+=("$word")
		fi
	done
}

# "shop add", or "status", or nothing: which subcommand the words begin with.
_cartbus_subcommand() {
	local two="${_cartbus_words[0]} ${_cartbus_words[1]}"
	if [[ -n $(_cartbus_options "$two") ]]; then
		printf %s "$two"
	elif [[ -n $(_cartbus_options "${_cartbus_words[0]}") ]]; then
		printf %s "${_cartbus_words[0]}"
	fi
}

# What may stand where KIND is asked for.
_cartbus_offer() {
	local IFS=$'\n'
	case $1 in
	FILE) compopt -o filenames && mapfile -t COMPREPLY < <(compgen -f -- "$2") ;;
	DIR) compopt -o filenames && mapfile -t COMPREPLY < <(compgen -d -- "$2") ;;
	SHOP) mapfile -t COMPREPLY < <(compgen -W "$(cartbus --shops ${_cartbus_config:+"$_cartbus_config"} 2>/dev/null)" -- "$2") ;;
	*) mapfile -t COMPREPLY < <(compgen -W "$(_cartbus_values "$1" | tr ' ' '\n')" -- "$2") ;;
	esac
}

# The first words of what can follow, while it is not said yet which subcommand it is.
_cartbus_offer_subcommands() {
	local name names=() before="${_cartbus_words[*]}"
	while read -r name; do
		if [[ -z $before ]]; then
			names+=("${name%% *}")
		elif [[ $name == "$before "* ]]; then
			names+=("${name#"$before "}")
		fi
	done < <(_cartbus_subcommands)
	mapfile -t COMPREPLY < <(compgen -W "${names[*]}" -- "$1" | sort -u)
}

_cartbus() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} subcommand
	local _cartbus_words _cartbus_config
	COMPREPLY=()
	_cartbus_read
	subcommand=$(_cartbus_subcommand)
	[[ $cur != = ]] || cur= # --config=FILE is three words
	[[ $prev != = ]] || prev=${COMP_WORDS[COMP_CWORD - 2]}
	if [[ $prev == --* && -n $(_cartbus_value "$subcommand" "$prev") ]]; then
		_cartbus_offer "$(_cartbus_value "$subcommand" "$prev")" "$cur"
	elif [[ $cur == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$(_cartbus_options "$subcommand")" -- "$cur")
	elif [[ -z $subcommand || ${#_cartbus_words[@]} -eq 1 && $(_cartbus_subcommands) == *"${_cartbus_words[0]} "* ]]; then
		_cartbus_offer_subcommands "$cur"
		[[ -z $subcommand || ${#COMPREPLY[@]} -gt 0 ]] || _cartbus_offer_word "$subcommand" "$cur"
	else
		_cartbus_offer_word "$subcommand" "$cur"
	fi
}

# The next of what the subcommand needs: its name's own words are behind it.
_cartbus_offer_word() {
	local kinds name
	read -r -a kinds <<<"$(_cartbus_kinds "$1")"
	read -r -a name <<<"$1"
	_cartbus_offer "${kinds[${#_cartbus_words[@]} - ${#name[@]}]}" "$2"
}

complete -F _cartbus cartbus
